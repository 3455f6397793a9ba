import type { TSchema, Type as TypeBox } from "typebox";

type Used =
  | "Array"
  | "Boolean"
  | "Enum"
  | "Integer"
  | "Number"
  | "Object"
  | "Optional"
  | "Record"
  | "Ref"
  | "String"
  | "Unknown"
  | "Unsafe";
type Schema = Readonly<Record<string, unknown>>;

/** Marks a property that may be left out. Not enumerable: it is not part of the schema. */
const optional = "~optional";

/**
 * TypeBox's types, with the part of its run-time behaviour that is used here. Its own code is about 300 modules, and
 * was a fifth of the time that the gateway takes to load.
 */
export const Type = {
  Array: (items: Schema, options?: Schema) => ({ type: "array", items, ...options }),
  Boolean: (options?: Schema) => ({ type: "boolean", ...options }),
  Enum: (values: readonly unknown[], options?: Schema) => ({ enum: values, ...options }),
  Integer: (options?: Schema) => ({ type: "integer", ...options }),
  Number: (options?: Schema) => ({ type: "number", ...options }),
  Object: (properties: Record<string, Schema>, options?: Schema) => {
    const required = Object.keys(properties).filter((name) => !(optional in (properties[name] as Schema)));
    return { type: "object", ...(required.length > 0 && { required }), properties, ...options };
  },
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, optional, { value: true }),
  Record: ({ pattern = "^.*$" }: { pattern?: string }, value: Schema, options?: Schema) => ({
    type: "object",
    patternProperties: { [pattern]: value },
    ...options,
  }),
  Ref: (name: string, options?: Schema) => ({ $ref: name, ...options }),
  String: (options?: Schema) => ({ type: "string", ...options }),
  Unknown: (options?: Schema) => ({ ...options }),
  Unsafe: (schema: TSchema) => ({ ...schema }),
} satisfies Record<Used, unknown> as unknown as Pick<typeof TypeBox, Used>;
