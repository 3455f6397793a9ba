import type { SchemaObject } from "ajv";
import type { Dialect } from "../dialects/dialect.ts";
import { fieldDescriptions } from "../dialects/field-descriptions.ts";

/**
 * The body of an inference request as JSON Schema, for the API description. What an upstream requires is left to the
 * upstream to check.
 */
export function inferenceBodySchema({ bodySchema }: Dialect): SchemaObject {
  const { properties, examples } = bodySchema as { properties: Record<string, SchemaObject>; examples: unknown[] };
  const fields = Object.entries(properties).map(([key, schema]) => [
    key,
    { ...schema, description: fieldDescriptions[key] },
  ]);
  return {
    type: "object",
    properties: { ...Object.fromEntries(fields), ...namingFields },
    additionalProperties: true,
    examples,
  };
}

/** The fields that name a model or a preset. */
export const namingFields = {
  model: {
    type: ["string", "null"],
    description:
      "A model; or a preset, `@preset/slug`; or one version of it, `@preset/slug@7`; or a model that takes the rest from a preset, `vendor/model@preset/slug`.",
  },
  models: {
    type: ["array", "null"],
    items: { type: "string" },
    description: "Models to try in turn, until one answers. They cannot be references to presets.",
  },
  preset: {
    type: ["string", "null"],
    description: "A preset, `slug` or `slug@7`. Never sent to an upstream.",
  },
};
