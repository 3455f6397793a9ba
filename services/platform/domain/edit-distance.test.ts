import { expect, it } from "vitest";
import { countEdits } from "./edit-distance.ts";

it.each([
  ["", "", 0],
  ["name", "name", 0],
  ["", "name", 4],
  ["name", "", 4],
  ["name", "nam", 1],
  ["name", "fame", 1],
  ["name", "names", 1],
  ["name", "naem", 1],
  ["abcd", "badc", 2],
  ["kitten", "sitting", 3],
])("counts the edits between %j and %j: %d", (a, b, edits) => {
  expect(countEdits(a, b, 9)).toBe(edits);
  expect(countEdits(a, b, edits)).toBe(edits);
  if (edits > 0) expect(countEdits(a, b, edits - 1)).toBeGreaterThan(edits - 1);
});
