import { describe, expect, it } from "vitest";
import { schemaCheck } from "../../services/platform/json/schema-check.ts";
import { nameRule } from "./schema-parts.ts";

const { violations } = schemaCheck({ type: "string", ...nameRule(10) });

describe("the rule of names", () => {
  it.each(["a", " a ", "\u200b", "日本語", "😀".repeat(10), "\u00a0x", `"\\/`])("allows %j", (name) => {
    expect(violations(name, "name")).toEqual([]);
  });

  it.each(["", " ", "\u3000", "\ufeff\u00a0", "a\n", "\ta", "a\u0000b", "\u007f", "a\u0085", "\u009fa"])(
    "refuses %j",
    (name) => {
      const message = "must be 1 to 10 characters, not only spaces, without control characters such as line breaks";
      expect(violations(name, "name")).toEqual([{ path: "name", message }]);
    },
  );

  it("counts characters", () => {
    expect(violations("😀".repeat(11), "name")).toEqual([{ path: "name", message: "must have at most 10 characters" }]);
  });

  it.each([" ", "a"])("is checked in linear time: %j", (character) => {
    const before = performance.now();
    expect(violations(`${character.repeat(1_000_000)}\n`, "name").length).toBe(2);
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});
