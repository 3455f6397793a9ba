import type { TSchema } from "typebox";
import { int32Max } from "../../services/platform/domain/limits.ts";
import { pageLimitDefault, pageLimitMax } from "../../services/platform/domain/page.ts";
import { Type } from "./schema-builder.ts";
import { componentSchema } from "./schema-parts.ts";

/** The query of every list. */
export const pageQuery = {
  offset: Type.Integer({ minimum: 0, maximum: int32Max, default: 0, description: "Records to skip." }),
  limit: Type.Integer({
    minimum: 1,
    maximum: pageLimitMax,
    default: pageLimitDefault,
    description: "Maximum records to return.",
  }),
};

/** The JSON that `pageJson` writes. */
export function pageSchema(itemName: string): TSchema {
  return Type.Object({
    data: Type.Array(componentSchema(itemName), { maxItems: pageLimitMax, description: "Empty past the end." }),
    total_count: Type.Integer({
      minimum: 0,
      description: "How many there are in total, not on this page.",
      examples: [1],
    }),
  });
}

/**
 * Creates a function that writes pages as bytes, each answer once: callers that ask for the same page at once share one
 * answer.
 */
export function pageWriter<Answer extends { readonly totalCount: number }>(
  itemsOf: (answer: Answer) => readonly string[],
): (answer: Answer) => Buffer {
  const written = new WeakMap<Answer, Buffer>();
  return (answer) => {
    let json = written.get(answer);
    if (json === undefined) {
      json = Buffer.from(pageJson(itemsOf(answer), answer.totalCount));
      written.set(answer, json);
    }
    return json;
  };
}

export function pageJson(items: readonly string[], totalCount: number): string {
  return `{"data":[${items.join(",")}],"total_count":${totalCount}}`;
}
