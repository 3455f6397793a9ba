import { expect, it } from "vitest";
import { isName } from "./field-rules.ts";

it.each([
  ["one character", "x", true],
  ["255 characters", "x".repeat(255), true],
  ["255 characters of two UTF-16 units each", "😀".repeat(255), true],
  ["nothing", "", false],
  ["only spaces", "  ", false],
  ["256 characters", "x".repeat(256), false],
  ["a line break", "a\nb", false],
  ["a tab", "a\tb", false],
])("decides whether a name may have %s", (_name, text, allowed) => {
  expect(isName(text)).toBe(allowed);
});
