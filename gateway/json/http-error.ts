import type { FieldViolation } from "../../services/platform/domain/domain-error.ts";

/** An error of HTTP itself, which no service knows. */
export class HttpError extends Error {
  readonly status: number;
  readonly violations: readonly FieldViolation[] = [];
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = "HttpError";
    this.status = status;
    this.headers = headers;
  }
}

/** For conditions that may be over in a moment. */
export const retryAfterSeconds = "1";

/**
 * For conditions that only a person can change. The clients of OpenAI and Anthropic retry a 409 and any 5xx, and Claude
 * Code retries these and a 401 for minutes, without a word.
 */
export const doNotRetry = { "x-should-retry": "false" };

/** The rest of a limit. Times are in whole seconds. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  /** Until one more request is allowed, and until all are. */
  readonly nextInSeconds: number;
  readonly fullInSeconds: number;
}

/** What is left of a limit that is used up for a moment. */
export function nothingLeft(limit: number): Allowance {
  return { limit, remaining: 0, nextInSeconds: 1, fullInSeconds: 1 };
}

/** The only way to answer 429, so that all of them have the same headers. */
export function tooManyRequests(
  message: string,
  allowance: Allowance,
  headers: Readonly<Record<string, string>> = {},
): HttpError {
  return new HttpError(429, message, {
    ...headers,
    ...rateLimitHeaders(allowance),
    "retry-after": String(Math.max(1, allowance.nextInSeconds)),
  });
}

export function rateLimitHeaders({ limit, remaining, fullInSeconds }: Allowance): Record<string, string> {
  return {
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(fullInSeconds),
  };
}

export function methodNotTaken(taken: ReadonlySet<string>): HttpError {
  const allow = [...taken].sort().join(", ");
  return new HttpError(405, `This path takes ${allow}. See /docs for what there is.`, { allow });
}

export function nothingFoundAt(url: string): HttpError {
  const [path = ""] = url.split("?");
  return new HttpError(404, `There is nothing at ${path}. ${hintFor(path)}`);
}

/**
 * Clients append their calls to a base URL that people configure, some adding a `/v1` and some not. Some people configure
 * the address of a call.
 */
const misplacedCall =
  /^(?:\/+(?:api|v1|chat\/completions|messages|responses))*\/+(chat\/completions|messages(?:\/count_tokens)?|responses(?:\/input_tokens)?|models|keys?|workspaces|organization\/\w+|presets(?:\/.+)?)\/?$/;
/** Further calls of upstream APIs beneath inference, such as `batches`. */
const callBehindInference = /^\/api\/v1\/(?:chat\/completions|messages|responses)\/./;

function hintFor(path: string): string {
  const [, call] = misplacedCall.exec(path) ?? [];
  if (call !== undefined && path !== `/api/v1/${call}`)
    return `Did you mean /api/v1/${call}? Check the base URL of your client.`;
  if (callBehindInference.test(path)) return "Only inference and token counts are sent on: call the upstream itself.";
  return "See /docs for what there is.";
}

export function bodyTooLarge(bytesMax: number): HttpError {
  return new HttpError(413, `The body is too large. Send one of at most ${bytesMax} bytes.`);
}
