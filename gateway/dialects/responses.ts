import {
  anything,
  boolean,
  either,
  ignore,
  integer,
  keep,
  listOf,
  mapOf,
  modelName,
  number,
  object,
  oneOf,
  prompt,
  text,
} from "./config-fields.ts";
import { defineDialect } from "./dialect.ts";
import { promptOfMessages } from "./system-prompt.ts";

/**
 * The body of POST /presets/{slug}/responses. A field that is not in the table is ignored; one that the chat-completions
 * table has too must have the same schema there.
 */
export const responses = defineDialect({
  required: [],
  fields: {
    model: keep(modelName()),
    models: keep(listOf(modelName())),
    provider: keep(object()),
    route: keep(anything()),
    plugins: keep(listOf(object())),
    // Clients send "auto" for someone who chose nothing.
    service_tier: keep(text(), { unless: "auto" }),
    cache_control: keep(object()),
    prompt_cache_options: keep(object()),

    temperature: keep(number(0, 2)),
    top_p: keep(number(0, 1)),
    top_k: keep(integer(0)),
    frequency_penalty: keep(number(-2, 2)),
    presence_penalty: keep(number(-2, 2)),

    max_output_tokens: keep(integer(1)),
    top_logprobs: keep(integer(0, 20)),
    text: keep(object()),
    modalities: keep(listOf(oneOf("text", "image", "audio"))),
    image_config: keep(either(text(), number(), listOf(anything()), object())),
    reasoning: keep(object()),
    truncation: keep(text()),
    include: keep(listOf(text())),

    tools: keep(listOf(object())),
    tool_choice: keep(either(text(), object())),
    parallel_tool_calls: keep(boolean()),
    max_tool_calls: keep(integer(0)),
    stop_server_tools_when: keep(listOf(object())),

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
