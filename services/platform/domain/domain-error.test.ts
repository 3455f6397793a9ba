import { describe, expect, it } from "vitest";
import { DomainError, invalidRequest } from "./domain-error.ts";

describe("invalidRequest", () => {
  it.each([
    [[{ path: "top_p", message: "must be a number" }], "top_p must be a number"],
    [[{ path: "", message: "must be valid JSON" }], "The body must be valid JSON"],
    [
      [
        { path: "a", message: "is required" },
        { path: "b", message: "is required" },
        { path: "c", message: "is required" },
      ],
      "a is required (and 2 more)",
    ],
  ])("states the first violation and counts the others: %j", (violations, message) => {
    expect(invalidRequest(violations)).toMatchObject({ kind: "invalid_argument", message, violations });
  });

  it.each([
    ["a hundred", "k", 100],
    ["as many as stay readable", "k".repeat(1_000), 16],
    ["one, however long", "k".repeat(100_000), 1],
  ])("lists %s of many", (_name, path, count) => {
    const refusal = invalidRequest(Array(1_000).fill({ path, message: "is bad" }));
    expect(refusal.violations).toHaveLength(count);
    expect(refusal.message).toContain("(and 999 more)");
  });
});

describe("DomainError", () => {
  it("keeps its cause for the log", () => {
    const cause = new Error("inside");
    expect(new DomainError("internal", { reason: "R", message: "m", cause }).cause).toBe(cause);
    expect(new DomainError("internal", { reason: "R", message: "m" })).not.toHaveProperty("cause");
  });
});
