import type { SchemaObject } from "ajv";
import type { FieldViolation } from "../../services/platform/domain/domain-error.ts";
import { type SchemaCheck, schemaCheck } from "../../services/platform/json/schema-check.ts";
import { type Field, orNull } from "./field.ts";
import { fieldDescriptions } from "./field-descriptions.ts";
import type { PromptTexts } from "./system-prompt.ts";

/** A parsed request body. */
type Body = Readonly<Record<string, unknown>>;

/** The shape of an inference request body, and what a preset takes from it. */
export interface Dialect {
  /** The whole body as JSON Schema, for the API description. */
  readonly bodySchema: SchemaObject;
  /** The names of all fields that a config may contain. */
  readonly keptKeys: ReadonlySet<string>;
  /** Whether a field with this value is part of the config. */
  readonly keeps: (key: string, value: unknown) => boolean;
  /** Every field that breaks its schema. */
  readonly findViolations: (body: Body) => readonly FieldViolation[];
  readonly findPrompt: (body: Body) => PromptTexts;
}

export function defineDialect(parts: {
  readonly required: readonly string[];
  readonly fields: Readonly<Record<string, Field>>;
  /** A body to try the route with. */
  readonly example: Body;
  readonly findPrompt: (body: Body) => PromptTexts;
}): Dialect {
  const fields = new Map(Object.entries(parts.fields));
  const bodySchema = asJson({
    type: "object",
    required: parts.required,
    properties: Object.fromEntries(
      fields.entries().map(([key, field]) => {
        const schema = { description: describe(key, field), ...field.schema };
        return [key, parts.required.includes(key) ? schema : orNull(schema)];
      }),
    ),
    additionalProperties: true,
    examples: [parts.example],
  });
  return {
    bodySchema,
    keptKeys: new Set(fields.keys().filter((key) => fields.get(key)?.use === "config")),
    keeps(key, value) {
      const field = fields.get(key);
      return field?.use === "config" && value !== null && value !== field.unless;
    },
    findViolations: bodyCheck(fields, parts.required),
    findPrompt: parts.findPrompt,
  };
}

/** A schema without its open bounds, which are undefined: JSON Schema has no such value. */
function asJson(schema: SchemaObject): SchemaObject {
  return JSON.parse(JSON.stringify(schema));
}

/** What happens to a field, to be appended to its description. */
const notesOnUse: Readonly<Record<Field["use"], string>> = {
  config: "",
  prompt: " Only the system prompt is taken from it; the rest is not stored.",
  none: " Not stored.",
};

function describe(key: string, { use }: Field): string {
  return (fieldDescriptions[key] ?? "") + notesOnUse[use];
}

function bodyCheck(fields: ReadonlyMap<string, Field>, required: readonly string[]): Dialect["findViolations"] {
  // Field by field: most bodies have only a few of them, and one schema for all would look for each.
  const checks = new Map<string, SchemaCheck>();
  for (const [key, { schema }] of fields) {
    if (Object.keys(schema).length > 0) checks.set(key, schemaCheck(schema));
  }
  return (body) => {
    const violations: FieldViolation[] = [];
    for (const key of required) {
      if (body[key] === undefined) violations.push({ path: key, message: "is required" });
    }
    for (const key in body) {
      const value = body[key];
      if (value === null && !required.includes(key)) continue;
      const check = checks.get(key);
      if (check && !check.passes(value)) violations.push(...check.violations(value, key));
    }
    return violations;
  };
}
