import { contentsOf, type Echo, type EchoDialect, openAiRefusal, type StreamEvent, textOf } from "./dialect.ts";

const systemRoles = ["system", "developer"];
const fingerprint = "fp_echo";

export const chatCompletions: EchoDialect = {
  promptFields: ["messages"],

  lookForFault: ({ messages }) =>
    Array.isArray(messages) && messages.length > 0 ? undefined : "messages must be a list with at least one message",

  systemPrompts: ({ messages }) => contentsOf(messages, ...systemRoles),

  lastUserContent: ({ messages }) => contentsOf(messages, "user").at(-1),

  whole: (echo) => ({
    ...head(echo, "chat.completion"),
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: textOf(echo), refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: usage(echo),
  }),

  *events(echo, { stream_options: options }): Generator<StreamEvent> {
    const chunk = head(echo, "chat.completion.chunk");
    const choice = (delta: object, finish_reason: "stop" | null = null) => ({
      data: { ...chunk, choices: [{ index: 0, delta, logprobs: null, finish_reason }] },
    });
    yield choice({ role: "assistant", content: "" });
    for (const content of echo.words) yield choice({ content });
    yield choice({}, "stop");
    const isUsageWanted = (options as { include_usage?: unknown } | undefined | null)?.include_usage === true;
    if (isUsageWanted) yield { data: { ...chunk, choices: [], usage: usage(echo) } };
    yield { data: "[DONE]" };
  },

  refusal: openAiRefusal,
};

function head({ id, model, createdAt }: Echo, object: string) {
  return { id: `chatcmpl-${id}`, object, created: createdAt, model, system_fingerprint: fingerprint };
}

function usage({ inputTokens, words }: Echo) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: words.length,
    total_tokens: inputTokens + words.length,
  };
}
