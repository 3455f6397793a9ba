import type { DialectName } from "../../dialects/dialect-name.ts";
import { anthropicErrorType } from "../../json/anthropic-error.ts";

/** What is known about a stream that broke. */
interface BrokenStream {
  readonly dialect: DialectName;
  readonly status: number;
  readonly message: string;
  readonly model: string;
  readonly requestId: string;
  /** The last bytes of it, as Latin-1. */
  readonly tail: string;
  /** Whether it ends with half an event. */
  readonly isInEvent: boolean;
}

/**
 * The final event of a stream that broke, in the form of its dialect. A partial event before it is terminated first.
 */
export function errorEvent(broken: BrokenStream): string {
  const { dialect, isInEvent } = broken;
  const name = dialect === "chat/completions" ? "" : "event: error\n";
  return `${isInEvent ? "\n\n" : ""}${name}data: ${JSON.stringify(errorData[dialect](broken))}\n\n`;
}

/**
 * Strict clients require each of these fields. In responses, some take a code that OpenAI does not use for a fault of
 * the caller.
 */
const errorData: Readonly<Record<DialectName, (broken: BrokenStream) => unknown>> = {
  "chat/completions": ({ status, message, model, requestId }) => ({
    id: requestId,
    object: "chat.completion.chunk",
    created: Math.floor(Date.now() / 1000),
    model,
    error: { code: status, message },
    choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
  }),
  messages: ({ status, message, requestId }) => ({
    type: "error",
    error: { type: anthropicErrorType(status), message },
    request_id: requestId,
  }),
  responses: ({ message, tail }) => ({
    type: "error",
    code: "server_error",
    message,
    param: null,
    sequence_number: nextSequenceNumber(tail),
  }),
};

function nextSequenceNumber(tail: string): number {
  const last = [...tail.matchAll(/"sequence_number": ?(\d{1,9})\b/g)].at(-1)?.[1];
  return last === undefined ? 0 : Number(last) + 1;
}
