import { describe, expect, it } from "vitest";
import { pageQuery } from "./page.ts";
import { hasTooManyParameters, parseQuery, queryReader } from "./query.ts";
import { Type } from "./schema-builder.ts";

const readByType = queryReader({
  ...pageQuery,
  q: Type.String(),
  all: Type.Boolean(),
  status: Type.Optional(Type.Array(Type.String())),
});

function read(query: string) {
  const values = parseQuery(query);
  readByType(values);
  return values;
}

describe("parseQuery", () => {
  it("reads the last of thousands of parameters, and reports that there are too many", () => {
    const query = (count: number) => parseQuery(`${"a=1&".repeat(count - 1)}workspace_id=x`);
    expect(query(5_000).workspace_id).toBe("x");
    expect(hasTooManyParameters(query(1_000))).toBe(false);
    expect(hasTooManyParameters(query(1_001))).toBe(true);
    expect(hasTooManyParameters(parseQuery(Array.from({ length: 1_001 }, (_, n) => `a${n}`).join("&")))).toBe(true);
  });
});

describe("queryReader", () => {
  it.each([
    ["", {}],
    ["offset=0&limit=100", { offset: 0, limit: 100 }],
    ["limit=-1", { limit: -1 }],
    ["all=true", { all: true }],
    ["all=false", { all: false }],
  ])("reads %j", (query, values) => {
    expect(read(query)).toEqual(values);
  });

  it("leaves text and unknown parameters unchanged", () => {
    expect(read("q=5&other=1,2")).toEqual({ q: "5", other: "1,2" });
  });

  it.each([
    "1e2",
    "1e1",
    "01",
    "007",
    "00",
    "-0",
    "-01",
    "+5",
    "%2B5",
    "%205",
    "5%20",
    "5%0A",
    "",
    "5.0",
    "0x10",
    "ten",
    "1_000",
    "%201",
    "99999999999999999999",
  ])("leaves limit=%s as text, for the schema to reject", (text) => {
    expect(read(`limit=${text}`)).toEqual({ limit: decodeURIComponent(text.replaceAll("+", " ")) });
  });

  it.each(["", "1", "0", "True", "yes", "null", " true"])("leaves all=%s as text, for the schema to reject", (text) => {
    expect(read(`all=${encodeURIComponent(text)}`)).toEqual({ all: text });
  });

  it("leaves a number given twice as a list, for the schema to reject", () => {
    expect(read("limit=1&limit=2")).toEqual({ limit: ["1", "2"] });
  });

  it.each([
    ["status=active", ["active"]],
    ["status=active&status=disabled", ["active", "disabled"]],
    ["status=active,disabled", ["active", "disabled"]],
    ["status=active%2Cdisabled&status=archived", ["active", "disabled", "archived"]],
    ["status=", [""]],
    ["status=active,", ["active", ""]],
  ])("reads the list %s", (query, status) => {
    expect(read(query)).toEqual({ status });
  });

  it("treats names of Object.prototype members as ordinary", () => {
    const values = read("__proto__=x&constructor=y");
    expect(Object.entries(values)).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
  });
});
