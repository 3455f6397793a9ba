import { expect, it } from "vitest";
import { searchedText } from "./searched-text.ts";

it.each([
  ["@preset/support-reply", "support-reply"],
  [' "@preset/support-reply@3" ', "support-reply"],
  ["@preset/support-reply@", "support-reply"],
  ["support @preset/x", "support @preset/x"],
  ["@preset/", "@preset/"],
  [" replies ", "replies"],
])("a search for %j is one for %j", (text, searched) => {
  expect(searchedText(text)).toBe(searched);
});
