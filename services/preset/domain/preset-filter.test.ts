import { describe, expect, it } from "vitest";
import { queryViolations } from "./preset-filter.ts";

describe("a search query", () => {
  it.each([
    ["nothing", ""],
    ["255 characters", "a".repeat(255)],
    ["255 characters that take two UTF-16 units each", "🙂".repeat(255)],
  ])("may have %s", (_name, query) => {
    expect(queryViolations(query)).toEqual([]);
  });

  it.each(["a", "🙂"])("may not have 256 characters: %s", (character) => {
    expect(queryViolations(character.repeat(256))).toEqual([
      { path: "query", message: "must have at most 255 characters" },
    ]);
  });
});
