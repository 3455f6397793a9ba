import type { SchemaObject } from "ajv";

/** One row of a dialect's table: what becomes of a field, and the values it may have. */
export interface Field {
  readonly use: "config" | "prompt" | "none";
  readonly schema: SchemaObject;
  readonly unless?: string | undefined;
}

/** The field is stored in `config` as it was sent, unless it has a value that says nothing. */
export function keep(schema: SchemaObject, { unless }: { readonly unless?: string } = {}): Field {
  return { use: "config", schema, unless };
}

/** The system prompt is read from the field; the field itself is not stored. */
export function prompt(schema: SchemaObject): Field {
  return { use: "prompt", schema };
}

/** The field is known and not stored. It is checked only where it has a schema. */
export function ignore(schema: SchemaObject = anything()): Field {
  return { use: "none", schema };
}

// JSON Schema, one short word for each shape that a field may have.

export function anything(): SchemaObject {
  return {};
}

export function boolean(): SchemaObject {
  return { type: "boolean" };
}

export function number(minimum?: number, maximum?: number): SchemaObject {
  return { type: "number", minimum, maximum };
}

export function integer(minimum?: number, maximum?: number): SchemaObject {
  return { type: "integer", minimum, maximum };
}

/** A length counts characters, not bytes. */
export function text(maxLength?: number): SchemaObject {
  return { type: "string", maxLength };
}

export function oneOf(...values: readonly string[]): SchemaObject {
  return { type: "string", enum: values };
}

/** A preset that refers to a preset might never come to an end. */
export function modelName(): SchemaObject {
  return {
    type: "string",
    pattern: "^(?!@preset/)",
    description: "the name of a model, not a reference to a preset (@preset/…)",
  };
}

export function listOf(items: SchemaObject, maxItems?: number): SchemaObject {
  return { type: "array", items, maxItems };
}

/** An object that has these members, and maybe others. */
export function object(properties?: Readonly<Record<string, SchemaObject>>): SchemaObject {
  return { type: "object", properties, required: properties && Object.keys(properties), additionalProperties: true };
}

/** An object whose keys are the caller's own. */
export function mapOf(
  values: SchemaObject,
  { pairsMax, keyLengthMax }: { readonly pairsMax?: number; readonly keyLengthMax?: number } = {},
): SchemaObject {
  return {
    type: "object",
    additionalProperties: values,
    maxProperties: pairsMax,
    propertyNames: keyLengthMax && { maxLength: keyLengthMax },
  };
}

/** A value of any of these shapes. Their types differ, so each rule binds its own type alone. */
export function either(...schemas: readonly SchemaObject[]): SchemaObject {
  return { ...Object.assign({}, ...schemas), type: schemas.map((schema) => schema.type) };
}

/** At the top of a body `null` stands for a field that was not sent. */
export function orNull(schema: SchemaObject): SchemaObject {
  return schema.type === undefined ? schema : { ...schema, type: [schema.type, "null"].flat() };
}
