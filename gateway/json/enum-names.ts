import type { TSchemaOptions } from "typebox";
import { Type } from "./schema-builder.ts";

/** Creates a function that returns the public name of an enum's value; null if it has none. */
export function namer<Name extends string>(
  valueByName: Readonly<Record<Name, number>>,
): (value: number) => Name | null {
  const names = new Map(Object.entries<number>(valueByName).map(([name, value]) => [value, name as Name]));
  return (value) => names.get(value) ?? null;
}

/** The schema of these names. */
export function nameSchema<Name extends string>(
  valueByName: Readonly<Record<Name, number>>,
  options: TSchemaOptions = {},
) {
  return Type.Enum(Object.keys(valueByName) as Name[], { type: "string", ...options });
}
