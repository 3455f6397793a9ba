import { describe, expect, it } from "vitest";
import { pageFrom } from "./page.ts";

describe("pageFrom", () => {
  it.each([
    [
      { offset: 0, limit: 0 },
      { offset: 0, limit: 50 },
    ],
    [
      { offset: 7, limit: 1 },
      { offset: 7, limit: 1 },
    ],
    [
      { offset: 2_147_483_647, limit: 100 },
      { offset: 2_147_483_647, limit: 100 },
    ],
  ])("accepts %j", (request, page) => {
    expect(pageFrom(request)).toEqual(page);
  });

  it.each([
    [{ offset: -1, limit: 0 }, ["offset"]],
    [{ offset: 0, limit: -1 }, ["limit"]],
    [{ offset: 0, limit: 101 }, ["limit"]],
    [{ offset: -1, limit: 101 }, ["offset", "limit"]],
  ])("rejects %j instead of clamping", (request, paths) => {
    const violations = paths.map((path) => expect.objectContaining({ path }));
    expect(() => pageFrom(request)).toThrow(expect.objectContaining({ kind: "invalid_argument", violations }));
  });
});
