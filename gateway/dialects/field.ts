import type { SchemaObject } from "ajv";
import { type ConfigField, configFields } from "../../services/platform/config-fields/config-fields.ts";
import { anything } from "../../services/platform/config-fields/field-schemas.ts";

/** One row of a dialect's table: what happens to a field, and the values it may have. */
export interface Field {
  readonly use: "config" | "prompt" | "none";
  readonly schema: SchemaObject;
  /** A value that means nothing, and is not stored. */
  readonly unless?: string | undefined;
}

/**
 * The fields are stored in `config` as they were sent, except for the value `unless`. Their rules are those of every
 * config or, if this dialect is stricter, `within`.
 */
export function keep<Name extends ConfigField>(
  names: readonly Name[],
  { within, unless }: { readonly within?: SchemaObject; readonly unless?: string } = {},
): Record<Name, Field> {
  return Object.fromEntries(
    names.map((name) => [name, { use: "config", schema: within ?? configFields[name], unless }]),
  ) as Record<Name, Field>;
}

/** The system prompt is read from the field; the field itself is not stored. */
export function prompt(schema: SchemaObject): Field {
  return { use: "prompt", schema };
}

/** The field is known but not stored. It is checked only if it has a schema. */
export function ignore(schema: SchemaObject = anything()): Field {
  return { use: "none", schema };
}

/** At the top of a body, `null` counts as not sent. */
export function orNull(schema: SchemaObject): SchemaObject {
  return schema.type === undefined ? schema : { ...schema, type: [schema.type, "null"].flat() };
}
