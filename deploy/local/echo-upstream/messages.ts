import { contentsOf, type Echo, type EchoDialect, type StreamEvent, textOf } from "./dialect.ts";

const errorTypes: Readonly<Record<number, string>> = {
  404: "not_found_error",
  413: "request_too_large",
  500: "api_error",
};

export const messages: EchoDialect = {
  promptFields: ["messages", "system"],

  lookForFault: ({ messages, max_tokens }) => {
    if (!Array.isArray(messages) || messages.length === 0) return "messages: at least one message is required";
    return Number.isInteger(max_tokens) ? undefined : "max_tokens: Field required";
  },

  systemPrompts: ({ system }) => (system === undefined ? [] : [system]),

  lastUserContent: ({ messages }) => contentsOf(messages, "user").at(-1),

  whole: (echo) => ({
    ...message(echo, echo.words.length),
    content: [{ type: "text", text: textOf(echo) }],
    stop_reason: "end_turn",
  }),

  *events(echo): Generator<StreamEvent> {
    yield event("message_start", { message: message(echo, 1) });
    yield event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
    yield event("ping", {});
    for (const text of echo.words) {
      yield event("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
    }
    yield event("content_block_stop", { index: 0 });
    yield event("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: usage(echo, echo.words.length),
    });
    yield event("message_stop", {});
  },

  refusal: (status, message) => ({
    type: "error",
    error: { type: errorTypes[status] ?? "invalid_request_error", message },
  }),
};

/** The message at the start of a stream: without content or stop reason. */
function message(echo: Echo, outputTokens: number) {
  return {
    id: `msg_${echo.id}`,
    type: "message",
    role: "assistant",
    model: echo.model,
    content: [] as object[],
    stop_reason: null as string | null,
    stop_sequence: null,
    usage: usage(echo, outputTokens),
  };
}

function usage({ inputTokens }: Echo, outputTokens: number) {
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
  };
}

function event(name: string, members: object): StreamEvent {
  return { name, data: { type: name, ...members } };
}
