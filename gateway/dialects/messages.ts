import {
  anything,
  boolean,
  either,
  ignore,
  integer,
  keep,
  listOf,
  modelName,
  number,
  object,
  orNull,
  prompt,
  text,
} from "./config-fields.ts";
import { defineDialect } from "./dialect.ts";
import { promptOfContent } from "./system-prompt.ts";

/** The body of POST /presets/{slug}/messages. A field that is not in the table is ignored. */
export const messages = defineDialect({
  required: ["messages", "model"],
  fields: {
    model: keep(modelName()),
    models: keep(listOf(modelName())),
    fallbacks: keep(either(text(), listOf(object()))),
    provider: keep(object()),
    route: keep(anything()),
    plugins: keep(listOf(object())),
    service_tier: keep(text()),
    speed: keep(text()),
    cache_control: keep(object()),
    context_management: keep(object()),

    temperature: keep(number()),
    top_p: keep(number()),
    top_k: keep(integer(0)),

    max_tokens: keep(integer(1)),
    stop_sequences: keep(listOf(text())),
    output_config: keep(object()),
    thinking: keep(object()),

    tools: keep(listOf(object())),
    tool_choice: keep(object()),
    stop_server_tools_when: keep(listOf(object())),

    system: prompt(either(text(), listOf(object()))),

    // Must be there, but may be null.
    messages: ignore(orNull(listOf(object()))),
    stream: ignore(boolean()),
    user: ignore(text(256)),
    session_id: ignore(text(256)),
    metadata: ignore(object()),
    trace: ignore(),
  },
  example: {
    model: "anthropic/claude-sonnet-4.5",
    max_tokens: 1024,
    system: "You answer questions about invoices, briefly.",
    messages: [{ role: "user", content: "Why was I charged twice?" }],
  },
  findPrompt: (body) => promptOfContent(body.system, "system"),
});
