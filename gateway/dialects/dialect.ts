import { Ajv, type SchemaObject } from "ajv";
import type { FieldViolation } from "../../services/platform/domain/domain-error.ts";
import { violationsFrom } from "../json/violations.ts";
import { type Field, orNull } from "./config-fields.ts";
import { fieldDescriptions } from "./field-descriptions.ts";
import type { PromptTexts } from "./system-prompt.ts";

/** A request body as parsed. */
type Body = Readonly<Record<string, unknown>>;

/** The shape of an inference request body, and what a preset takes from it. */
export interface Dialect {
  /** The whole body as JSON Schema, for the document that describes the route. */
  readonly bodySchema: SchemaObject;
  /** The names of all fields that may stand in a config. */
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
    findViolations: compileSchema(bodySchema),
    findPrompt: parts.findPrompt,
  };
}

/** A schema without the bounds that its table leaves open, which are undefined: JSON Schema has no such value. */
function asJson(schema: SchemaObject): SchemaObject {
  return JSON.parse(JSON.stringify(schema));
}

/** What becomes of a field, behind what it is for. */
const notesOnUse: Readonly<Record<Field["use"], string>> = {
  config: "",
  prompt: " Gives the system prompt; not stored otherwise.",
  none: " Not stored.",
};

function describe(key: string, { use }: Field): string {
  return (fieldDescriptions[key] ?? "") + notesOnUse[use];
}

const options = { allowUnionTypes: true, strictNumbers: false, verbose: true };
const untilFirstError = new Ajv(options);
const untilEnd = new Ajv({ ...options, allErrors: true });

/** How many elements of a list are searched for every violation. */
const elementsMax = 100;

/**
 * A body of 10 MiB has room for five million bad elements, and gathering an error for each would take a gigabyte. So all
 * errors are gathered only from the first elements of each list and map, and one error where those are good.
 */
function compileSchema(schema: SchemaObject): (body: Body) => FieldViolation[] {
  const isValid = untilFirstError.compile(schema);
  const isValidToEnd = untilEnd.compile(schema);
  return (body) => {
    if (isValid(body)) return [];
    const isHeadValid = isValidToEnd(
      Object.fromEntries(Object.entries(body).map(([key, value]) => [key, head(value)])),
    );
    return violationsFrom((isHeadValid ? isValid.errors : isValidToEnd.errors) ?? []);
  };
}

function head(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, elementsMax);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).slice(0, elementsMax));
}
