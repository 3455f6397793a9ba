import { boolean, either, listOf, object, text } from "../../services/platform/config-fields/field-schemas.ts";
import { defineDialect } from "./dialect.ts";
import { ignore, keep, orNull, prompt } from "./field.ts";
import { promptOfContent } from "./system-prompt.ts";

/** The body of POST /presets/{slug}/messages. A field that is not in the table is ignored. */
export const messages = defineDialect({
  required: ["messages", "model"],
  fields: {
    ...keep(["model", "models", "fallbacks", "provider", "route", "plugins"]),
    ...keep(["service_tier", "speed", "cache_control", "context_management"]),

    ...keep(["temperature", "top_p", "top_k"]),

    ...keep(["max_tokens", "stop_sequences", "output_config", "thinking"]),

    ...keep(["tools"]),
    ...keep(["tool_choice"], { within: object() }),
    ...keep(["stop_server_tools_when"]),

    system: prompt(either(text(), listOf(object()))),

    // Required, but may be null.
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
