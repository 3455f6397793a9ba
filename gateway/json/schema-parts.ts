import type { TSchema, TSchemaOptions, TString, TUnsafe } from "typebox";
import { Type } from "./schema-builder.ts";

/** A schema that has a name in the API description; openapi/description.ts lists them. */
export function componentSchema(name: string): TSchema {
  return Type.Ref(`#/components/schemas/${name}`);
}

export function uuid(description: string): TString {
  return Type.String({ format: "uuid", description });
}

export function time(description: string): TString {
  return Type.String({ format: "date-time", description });
}

interface ValuesByType {
  readonly string: string;
  readonly integer: number;
}

export function nullable<Name extends keyof ValuesByType = never>(
  types: Name | readonly Name[],
  options: TSchemaOptions,
): TUnsafe<ValuesByType[Name] | null> {
  return Type.Unsafe({ type: [types, "null"].flat(), ...options });
}

/**
 * The control characters, for a class of characters in a pattern. No pattern of the API description has a look-ahead or
 * a property of Unicode: the languages of generated clients do not know them all, or give them another meaning.
 */
export const controlCharacters = "\\x00-\\x1f\\x7f-\\x9f";

/** The rule of every name that people choose, in words that follow "must be". */
export function nameRule(lengthMax: number): TSchemaOptions & { readonly pattern: string } {
  return {
    pattern: `^[^\\S${controlCharacters}]*[^\\s${controlCharacters}][^${controlCharacters}]*$`,
    maxLength: lengthMax,
    description: `1 to ${lengthMax} characters, not only spaces, without control characters such as line breaks`,
  };
}

/** A field of a body that may be left out, or be null, which means the same or removes the value. */
export function optionalText(options: TSchemaOptions) {
  return Type.Optional(nullable("string", options));
}

/** A field that is accepted for compatibility, with the one value that is true here. `reason` follows "must be". */
export function fixedValue(value: null | boolean | number, reason: string) {
  const type = value === null ? "null" : typeof value;
  return Type.Optional(Type.Unsafe<typeof value>({ type, const: value, description: reason }));
}
