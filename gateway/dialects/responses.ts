import {
  boolean,
  either,
  listOf,
  mapOf,
  number,
  object,
  text,
} from "../../services/platform/config-fields/field-schemas.ts";
import { defineDialect } from "./dialect.ts";
import { ignore, keep, prompt } from "./field.ts";
import { promptOfMessages } from "./system-prompt.ts";

/**
 * The body of POST /presets/{slug}/responses. A field that is not in the table is ignored; one that is also in the
 * chat-completions table must have the same schema there.
 */
export const responses = defineDialect({
  required: [],
  fields: {
    ...keep(["model", "models", "provider", "route", "plugins"]),
    // Clients send "auto" if nothing was chosen.
    ...keep(["service_tier"], { unless: "auto" }),
    ...keep(["cache_control", "prompt_cache_options"]),

    ...keep(["temperature"], { within: number(0, 2) }),
    ...keep(["top_p"], { within: number(0, 1) }),
    ...keep(["top_k", "frequency_penalty", "presence_penalty"]),

    ...keep(["max_output_tokens", "top_logprobs", "text", "modalities", "image_config"]),
    ...keep(["reasoning", "truncation", "include"]),

    ...keep(["tools", "tool_choice", "parallel_tool_calls", "max_tool_calls", "stop_server_tools_when"]),

    instructions: prompt(text()),
    input: prompt(either(text(), listOf(object()))),

    stream: ignore(boolean()),
    user: ignore(text()),
    session_id: ignore(text(256)),
    metadata: ignore(mapOf(text(512), { pairsMax: 16, keyLengthMax: 64 })),
    stream_options: ignore(),
    prompt: ignore(),
    store: ignore(),
    background: ignore(),
    debug: ignore(),
    trace: ignore(),
    previous_response_id: ignore(),
    safety_identifier: ignore(),
    prompt_cache_key: ignore(),
  },
  example: {
    model: "openai/gpt-4o",
    max_output_tokens: 1024,
    instructions: "You answer questions about invoices, briefly.",
    input: "Why was I charged twice?",
  },
  findPrompt: ({ instructions, input }) => {
    if (instructions === undefined || instructions === null) return promptOfMessages(input, "input");
    return { texts: typeof instructions === "string" ? [instructions] : [], violations: [] };
  },
});
