import { type TSchema, type TSchemaOptions, Type } from "typebox";

/** A schema that has a name in the document; openapi/description.ts says which there are. */
export function componentSchema(name: string): TSchema {
  return Type.Ref(`#/components/schemas/${name}`);
}

export function uuid(description: string): TSchema {
  return Type.String({ format: "uuid", description });
}

export function time(description: string): TSchema {
  return Type.String({ format: "date-time", description });
}

export function nullable(types: string | readonly string[], options: TSchemaOptions): TSchema {
  return Type.Unsafe({ type: [types, "null"].flat(), ...options });
}
