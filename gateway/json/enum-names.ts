import type { TSchemaOptions } from "typebox";
import { namesByNumber } from "../../services/platform/rpc/names-by-number.ts";
import { Type } from "./schema-builder.ts";

/** Creates a function that returns the public name of an enum's value; null if it has none. */
export function namer<Name extends string>(
  valueByName: Readonly<Record<Name, number>>,
): (value: number) => Name | null {
  const names = namesByNumber(valueByName);
  return (value) => names.get(value) ?? null;
}

/** The schema of these names. */
export function nameSchema<Name extends string>(
  valueByName: Readonly<Record<Name, number>>,
  options: TSchemaOptions = {},
) {
  return Type.Enum(Object.keys(valueByName) as Name[], { type: "string", ...options });
}
