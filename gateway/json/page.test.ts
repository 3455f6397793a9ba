import { describe, expect, it } from "vitest";
import { pageJson } from "./page.ts";

describe("pageJson", () => {
  it("returns JSON, with and without items", () => {
    expect(JSON.parse(pageJson([], 3))).toEqual({ data: [], total_count: 3 });
    expect(JSON.parse(pageJson(['{"a":1}', '{"a":2}'], 2))).toEqual({ data: [{ a: 1 }, { a: 2 }], total_count: 2 });
  });
});
