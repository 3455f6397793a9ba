import { ApiError } from "../../api/api-error.ts";
import { send } from "../../api/request.ts";
import type { Dialect } from "../../api/types.ts";
import { eventsOf } from "./stream-events.ts";

export interface StreamedAnswer {
  readonly text: string;
  /** The version that was used, and the upstream that answered, according to the gateway. */
  readonly preset: string | null;
  readonly upstream: string | null;
}

interface StreamParts {
  readonly dialect: Dialect;
  readonly body: object | string;
  readonly signal: AbortSignal;
  readonly onProgress: (answer: StreamedAnswer) => void;
}

/** The parts that are read of an event, in any of the three dialects. */
interface StreamEvent {
  readonly type?: string;
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly delta?: string | { readonly text?: string };
  readonly error?: { readonly message?: string };
  readonly message?: unknown;
  readonly response?: { readonly error?: { readonly message?: string } | null };
}

/** Sends a request and reports the text of the answer as it streams in. */
export async function streamAnswer({ dialect, body, signal, onProgress }: StreamParts): Promise<void> {
  const response = await send(`/api/v1/${dialect}`, { method: "POST", body, signal });
  const head = {
    preset: response.headers.get("x-setpoint-preset"),
    upstream: response.headers.get("x-setpoint-upstream"),
  };
  const brokenOff = (message = "The answer broke off."): ApiError =>
    new ApiError(0, message, [], response.headers.get("x-request-id") ?? undefined);
  let text = "";
  onProgress({ ...head, text });
  try {
    for await (const data of eventsOf(response)) {
      const event = JSON.parse(data) as StreamEvent;
      if (isFailure(event)) throw brokenOff(failureText(event));
      text += textOf(event);
      onProgress({ ...head, text });
    }
  } catch (error) {
    // The connection was lost, or an event was cut off with it.
    throw signal.aborted || error instanceof ApiError ? error : brokenOff();
  }
}

function isFailure({ type, error }: StreamEvent): boolean {
  return Boolean(error) || type === "error" || type === "response.failed";
}

function failureText({ error, message, response }: StreamEvent): string | undefined {
  return error?.message ?? response?.error?.message ?? (typeof message === "string" ? message : undefined);
}

function textOf({ type, choices, delta }: StreamEvent): string {
  if (choices) return choices[0]?.delta?.content ?? "";
  if (type === "content_block_delta" && typeof delta === "object") return delta.text ?? "";
  return type === "response.output_text.delta" && typeof delta === "string" ? delta : "";
}
