import { ApiError, apiErrorFrom } from "./api-error.ts";

/** A response with its text: after JSON.parse, a config is no longer what is stored (`1.0`, long integers). */
export interface Answer<T> {
  readonly json: T;
  readonly text: string;
  readonly etag: string | undefined;
}

interface RequestParts {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** A value, or JSON text that must be sent unchanged. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

let sessionEndListener = (): void => {};

/** Sets what is called when the API no longer knows the caller: the session has ended, or its key was disabled. */
export function onSessionEnd(listener: () => void): void {
  sessionEndListener = listener;
}

/** By default, the gateway answers or refuses sooner. A connection that is lost without a word hangs for many minutes. */
const silenceMsMax = 30_000;
/** How long a slow connection takes to send a byte: one of 64 kbit/s. */
const byteMs = 1 / 8;

/** Calls the API as whoever is signed in. Throws an ApiError if that fails. */
export async function request<T>(path: string, parts: RequestParts = {}): Promise<Answer<T>> {
  const silence = new AbortController();
  const giveUpAfter = (ms: number) => setTimeout(() => silence.abort(new ApiError(0, unreachable)), ms);
  // A body that may be long is text already.
  const sendMs = typeof parts.body === "string" ? new Blob([parts.body]).size * byteMs : 0;
  let timer = giveUpAfter(sendMs + silenceMsMax);
  const onChunk = (): void => {
    clearTimeout(timer);
    timer = giveUpAfter(silenceMsMax);
  };
  const signal = parts.signal ? AbortSignal.any([parts.signal, silence.signal]) : silence.signal;
  try {
    const response = await send(path, { ...parts, signal });
    onChunk();
    const text = await overNetwork(textOf(response, onChunk), signal);
    return {
      json: (text === "" ? undefined : JSON.parse(text)) as T,
      text,
      etag: response.headers.get("etag") ?? undefined,
    };
  } finally {
    clearTimeout(timer);
  }
}

function textOf({ body }: Response, onChunk: () => void): Promise<string> {
  const watched = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      onChunk();
      controller.enqueue(chunk);
    },
  });
  return new Response(body?.pipeThrough(watched)).text();
}

const outOfReach = "The service is out of reach or overloaded. Try again in a moment.";

/** The API's messages speak of headers and bodies. These are for people, who see neither. */
const messageByStatus: Readonly<Record<number, string>> = {
  401: "Your session had ended. Try again.",
  413: "This is too large to send. Shorten the prompt or the config.",
  429: "Too many requests with your key in a short time. Wait a few seconds, then try again.",
  502: outOfReach,
  503: outOfReach,
  504: outOfReach,
};

function withOwnWording(path: string, error: ApiError): ApiError {
  const message = path.startsWith("/api/") ? messageByStatus[error.status] : undefined;
  return message === undefined ? error : new ApiError(error.status, message, error.issues, error.requestId);
}

/** Like `request`, but returns the response before its body is read. */
export async function send(path: string, { method = "GET", body, headers, signal }: RequestParts): Promise<Response> {
  const init: RequestInit = {
    method,
    credentials: "same-origin",
    headers: {
      "x-setpoint-console": "1",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  };
  const response = await overNetwork(fetch(path, init), signal);
  if (response.ok) return response;
  const error = await apiErrorFrom(response);
  // If an upstream rejects the gateway's credential, nobody here is signed out, and its own message is shown.
  if (response.headers.has("x-setpoint-upstream")) throw error;
  if (error.status === 401) sessionEndListener();
  throw withOwnWording(path, error);
}

/** The message for a request without a response. The request may have been carried out nevertheless. */
export const unreachable = "The gateway cannot be reached. Check the connection, then try again.";

/** Whether a change may have been made nevertheless: no response came, or only that something broke on the way. */
export function isOutcomeUnknown({ status, message }: ApiError): boolean {
  return message === unreachable || status >= 500;
}

/** Says that a change failed, or may have. */
export function notChanged(what: string, error: ApiError): string {
  return `${what} ${isOutcomeUnknown(error) ? "may not have been" : "was not"} changed: ${error.message}`;
}

/** Waits for the network; throws an ApiError if the connection cannot be made or is lost. */
function overNetwork<T>(pending: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return pending.catch(() => {
    if (signal?.aborted) throw signal.reason;
    throw new ApiError(0, unreachable);
  });
}
