import { boolean, listOf, mapOf, number, object, text } from "../../services/platform/config-fields/field-schemas.ts";
import { defineDialect } from "./dialect.ts";
import { ignore, keep, prompt } from "./field.ts";
import { promptOfMessages } from "./system-prompt.ts";

/** The body of POST /presets/{slug}/chat/completions. A field that is not in the table is ignored. */
export const chatCompletions = defineDialect({
  required: ["messages"],
  fields: {
    ...keep(["model", "models", "provider", "route", "plugins"]),
    ...keep(["service_tier", "cache_control", "prompt_cache_options"]),

    ...keep(["temperature"], { within: number(0, 2) }),
    ...keep(["top_p"], { within: number(0, 1) }),
    ...keep(["top_k", "min_p", "top_a", "frequency_penalty", "presence_penalty", "repetition_penalty"]),
    ...keep(["logit_bias", "seed"]),

    ...keep(["max_tokens", "max_completion_tokens", "stop", "logprobs", "top_logprobs", "response_format"]),
    ...keep(["modalities", "image_config", "verbosity", "reasoning", "reasoning_effort"]),

    ...keep(["tools", "tool_choice", "parallel_tool_calls", "stop_server_tools_when"]),

    messages: prompt(listOf(object({ role: text() }))),

    stream: ignore(boolean()),
    user: ignore(text()),
    session_id: ignore(text(256)),
    metadata: ignore(mapOf(text(512), { pairsMax: 16, keyLengthMax: 64 })),
    stream_options: ignore(),
    prompt: ignore(),
    prediction: ignore(),
    store: ignore(),
    debug: ignore(),
    trace: ignore(),
    safety_identifier: ignore(),
    prompt_cache_key: ignore(),
  },
  example: {
    model: "openai/gpt-4o",
    temperature: 0.2,
    messages: [
      { role: "system", content: "You answer questions about invoices, briefly." },
      { role: "user", content: "Why was I charged twice?" },
    ],
  },
  findPrompt: (body) => promptOfMessages(body.messages, "messages"),
});
