import { parse } from "node:querystring";
import type { TProperties } from "typebox";

/** A query as text: each name with its value, or with the list of its values if it is repeated. */
export type Query = Record<string, unknown>;

/** Reads every parameter. By default, the parser would silently drop those after the first thousand. */
export function parseQuery(query: string): Query {
  return query === "" ? {} : { ...parse(query, "&", "=", { maxKeys: 0 }) };
}

/** No sensible query has more. */
export const parametersMax = 1_000;

export function hasTooManyParameters(query: Query): boolean {
  let count = 0;
  for (const name in query) {
    const value = query[name];
    count += Array.isArray(value) ? value.length : 1;
  }
  return count > parametersMax;
}

/**
 * Creates a function that converts the texts of a query or a path to the types of its schema, in place. An integer is
 * decimal digits and nothing else: `1e2`, `+5`, `05` and an empty value stay texts, and are refused by the schema. A
 * list may be repeated, or separated by commas.
 */
export function queryReader(properties: TProperties): (query: Query) => void {
  const namesOf = (type: string) =>
    Object.entries(properties).flatMap(([name, schema]) => ("type" in schema && schema.type === type ? name : []));
  const integers = namesOf("integer");
  const booleans = namesOf("boolean");
  const lists = namesOf("array");
  return (query) => {
    for (const name of integers) {
      const value = query[name];
      if (typeof value === "string" && /^(0|-?[1-9]\d{0,14})$/.test(value)) query[name] = Number(value);
    }
    for (const name of booleans) {
      const value = query[name];
      if (value === "true" || value === "false") query[name] = value === "true";
    }
    for (const name of lists) {
      const value = query[name];
      if (value !== undefined) query[name] = [value].flat().flatMap((text) => String(text).split(","));
    }
  };
}
