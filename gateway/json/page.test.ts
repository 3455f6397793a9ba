import { describe, expect, it } from "vitest";
import { pageJson, parseQuery } from "./page.ts";

describe("parseQuery", () => {
  it.each([
    ["", {}],
    ["offset=0&limit=100", { offset: 0, limit: 100 }],
    ["limit=-1", { limit: -1 }],
    ["limit=007", { limit: 7 }],
  ])("reads %j", (query, values) => {
    expect(parseQuery(query)).toEqual(values);
  });

  it.each(["1e2", "%2B5", "", "5.0", "0x10", "ten", "1_000", "%201", "99999999999999999999"])(
    "leaves limit=%s as text, for the schema to refuse",
    (text) => {
      expect(parseQuery(`limit=${text}`)).toEqual({ limit: decodeURIComponent(text) });
    },
  );

  it("leaves a number that is given twice as a list, for the schema to refuse", () => {
    expect(parseQuery("limit=1&limit=2")).toEqual({ limit: ["1", "2"] });
  });

  it.each([
    ["status=active", ["active"]],
    ["status=active&status=disabled", ["active", "disabled"]],
    ["status=active,disabled", ["active", "disabled"]],
    ["status=active%2Cdisabled&status=archived", ["active", "disabled", "archived"]],
    ["status=", [""]],
    ["status=active,", ["active", ""]],
  ])("reads the list %s", (query, status) => {
    expect(parseQuery(query)).toEqual({ status });
  });

  it("keeps a name that every object has as an ordinary one", () => {
    const values = parseQuery("__proto__=x&constructor=y");
    expect(Object.entries(values)).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
  });
});

describe("pageJson", () => {
  it("is JSON, with and without items", () => {
    expect(JSON.parse(pageJson([], 3))).toEqual({ data: [], total_count: 3 });
    expect(JSON.parse(pageJson(['{"a":1}', '{"a":2}'], 2))).toEqual({ data: [{ a: 1 }, { a: 2 }], total_count: 2 });
  });
});
