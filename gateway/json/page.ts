import { parse } from "node:querystring";
import { type TSchema, Type } from "typebox";
import { pageLimitDefault, pageLimitMax, pageOffsetMax } from "../../services/platform/page.ts";
import { componentSchema } from "./schema-parts.ts";

/** The query of every list. */
export const pageQuery = {
  offset: Type.Integer({ minimum: 0, maximum: pageOffsetMax, default: 0, description: "Records to skip." }),
  limit: Type.Integer({
    minimum: 1,
    maximum: pageLimitMax,
    default: pageLimitDefault,
    description: "Maximum records to return.",
  }),
};

/**
 * Reads a query into what the routes' schemas describe. A number is decimal digits and nothing else, so that `1e2`, `+5`
 * or an empty value is refused and not guessed at. A list may be repeated, or separated by commas.
 */
export function parseQuery(query: string): Record<string, unknown> {
  const values: Record<string, unknown> = { ...parse(query) };
  for (const name of Object.keys(pageQuery)) {
    const value = values[name];
    if (typeof value === "string" && /^-?\d{1,15}$/.test(value)) values[name] = Number(value);
  }
  if (values.status !== undefined) values.status = [values.status].flat().flatMap((value) => String(value).split(","));
  return values;
}

/** The JSON that `pageJson` writes. */
export function pageSchema(itemName: string): TSchema {
  return Type.Object({
    data: Type.Array(componentSchema(itemName), { maxItems: pageLimitMax, description: "Empty past the end." }),
    total_count: Type.Integer({
      minimum: 0,
      description: "How many there are in all, not on this page.",
      examples: [1],
    }),
  });
}

/** A page, ready to be sent. */
export interface JsonPage {
  readonly json: string;
}

export function pageJson(items: readonly string[], totalCount: number): string {
  return `{"data":[${items.join(",")}],"total_count":${totalCount}}`;
}
