import type { SchemaObject } from "ajv";
import { type SchemaCheck, schemaCheck } from "../json/schema-check.ts";
import {
  anything,
  boolean,
  either,
  integer,
  listOf,
  mapOf,
  modelName,
  number,
  object,
  oneOf,
  text,
} from "./field-schemas.ts";

/**
 * Every field that a preset config may contain, and its allowed values, whoever sends it. A dialect of the gateway
 * keeps some of these, and may be stricter: then the rule here is the widest of all dialects.
 */
export const configFields = {
  // Which model, and how a request is routed to it.
  model: modelName(),
  models: listOf(modelName()),
  fallbacks: either(text(), listOf(object())),
  provider: object(),
  route: anything(),
  plugins: listOf(object()),
  service_tier: text(),
  speed: text(),

  // Sampling.
  temperature: number(),
  top_p: number(),
  top_k: integer(0),
  min_p: number(0, 1),
  top_a: number(0, 1),
  frequency_penalty: number(-2, 2),
  presence_penalty: number(-2, 2),
  repetition_penalty: number(0, 2),
  logit_bias: mapOf(number()),
  seed: integer(),
  logprobs: boolean(),
  top_logprobs: integer(0, 20),

  // How much, and when to stop.
  max_tokens: integer(1),
  max_completion_tokens: integer(1),
  max_output_tokens: integer(1),
  stop: either(text(), listOf(text(), 4)),
  stop_sequences: listOf(text()),
  truncation: text(),

  // Tools.
  tools: listOf(object()),
  tool_choice: either(text(), object()),
  parallel_tool_calls: boolean(),
  max_tool_calls: integer(0),
  stop_server_tools_when: listOf(object()),

  // Reasoning.
  reasoning: object(),
  reasoning_effort: text(),
  thinking: object(),
  verbosity: text(),

  // The shape of the answer.
  response_format: object(),
  output_config: object(),
  text: object(),
  include: listOf(text()),
  modalities: listOf(oneOf("text", "image", "audio")),
  image_config: either(text(), number(), listOf(anything()), object()),

  // Context.
  cache_control: object(),
  prompt_cache_options: object(),
  context_management: object(),
} satisfies Readonly<Record<string, SchemaObject>>;

export type ConfigField = keyof typeof configFields;

/** The check of each field, by its name. */
export const configChecks: ReadonlyMap<string, SchemaCheck> = new Map(
  Object.entries(configFields).map(([name, schema]) => [name, schemaCheck(schema)]),
);
