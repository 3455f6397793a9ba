import type { SchemaObject } from "ajv";

// JSON Schema, with one short name for each shape that a field may have.

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

/** A preset that refers to a preset might be circular, so it is refused. */
export function modelName(): SchemaObject {
  return {
    type: "string",
    not: { type: "string", pattern: "@preset/" },
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

/** A value of any of these shapes. Their types differ, so each rule applies to its own type only. */
export function either(...schemas: readonly SchemaObject[]): SchemaObject {
  return { ...Object.assign({}, ...schemas), type: schemas.map((schema) => schema.type) };
}
