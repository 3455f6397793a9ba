import { describe, expect, it } from "vitest";
import { etagHeader, etagsOfCreation, etagsOfIfMatch, isNotModified } from "./etag.ts";

const malformed = [
  "",
  " ",
  "r1",
  "'r1'",
  '"r1',
  'r1"',
  '"r1" "r2"',
  '"r1", r2',
  '"a b"',
  'w/"r1"',
  'W/ "r1"',
  '*, "r1"',
];

describe("If-Match", () => {
  it.each([
    ['"r1"', ["r1"]],
    ['  "r1"  ', ["r1"]],
    ['"r1", "r2"', ["r1", "r2"]],
    ['"r1","r2"', ["r1", "r2"]],
    ['"r1",,"r2"', ["r1", "r2"]],
    ['"a,b"', ["a,b"]],
    ['"\u00e9"', ["\u00e9"]],
    ['""', [""]],
  ])("%s allows the tags %j", (header, tags) => {
    expect(etagsOfIfMatch(header)).toEqual(tags);
  });

  it.each([[undefined], ["*"], [" * "]])("%s allows any", (header) => {
    expect(etagsOfIfMatch(header)).toEqual([]);
  });

  it('accepts a tag made weak by a proxy, and never as "any"', () => {
    expect(etagsOfIfMatch('W/"r1"')).toEqual(["r1"]);
    expect(etagsOfIfMatch('W/"r1", "r2"')).toEqual(["r1", "r2"]);
    expect(etagsOfIfMatch('W/"*", W/"-"')).toEqual(["", ""]);
  });

  it('accepts a tag with a proxy\'s coding suffix, and never as "any"', () => {
    expect(etagsOfIfMatch('"r1-gzip", W/"r2-br"')).toEqual(["r1", "r2"]);
    expect(etagsOfIfMatch('"*-gzip", "--br", "-gzip"')).toEqual(["", "", ""]);
    expect(etagsOfIfMatch('"r1-gzip-", "r1-gzipped"')).toEqual(["r1-gzip-", "r1-gzipped"]);
  });

  it.each([
    [undefined, []],
    [" * ", ["*"]],
    ['"r1", W/"r2"', ["r1", "r2"]],
    ['"*", "-"', ["", ""]],
  ])("of a creation, %s allows %j", (header, tags) => {
    expect(etagsOfCreation(header, undefined)).toEqual(tags);
  });

  it.each(malformed)("rejects %j and names itself", (header) => {
    expect(() => etagsOfIfMatch(header)).toThrow(
      expect.objectContaining({
        kind: "invalid_argument",
        violations: [{ path: "If-Match", message: 'must be the ETag of an earlier answer, with its quotes: "…"' }],
      }),
    );
  });

  it("parses a long header quickly", () => {
    expect(() => etagsOfIfMatch('"'.repeat(100_001))).toThrow();
    expect(() => etagsOfIfMatch(`${"a".repeat(100_000)}"`)).toThrow();
    expect(etagsOfIfMatch(Array(10_000).fill('"r1"').join(", "))).toHaveLength(10_000);
  });
});

describe("If-None-Match", () => {
  it.each([
    [undefined, false],
    ['"r1"', true],
    ['"r2"', false],
    ['W/"r1"', true],
    ['"r0", "r1"', true],
    ['"r0", W/"r2"', false],
    ["*", true],
    ['""', false],
    ['"R1"', false],
  ])("%s matches r1: %s", (header, has) => {
    expect(isNotModified(header, "r1")).toBe(has);
  });

  it.each(malformed)("rejects %j and names itself", (header) => {
    expect(() => isNotModified(header, "r1")).toThrow(
      expect.objectContaining({ violations: [expect.objectContaining({ path: "If-None-Match" })] }),
    );
  });
});

describe("ETag", () => {
  it("is quoted, and is parsed back unchanged", () => {
    expect(etagHeader("r1")).toBe('"r1"');
    expect(etagsOfIfMatch(etagHeader("r1"))).toEqual(["r1"]);
  });
});
