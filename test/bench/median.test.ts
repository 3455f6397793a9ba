import { expect, it } from "vitest";
import { median } from "./median.ts";

it.each([
  { values: [3, 1, 2], expected: 2 },
  { values: [4, 1, 2, 3], expected: 2.5 },
  { values: [7], expected: 7 },
  { values: [], expected: Number.NaN },
])("the median of $values is $expected", ({ values, expected }) => {
  expect(median(values)).toBe(expected);
});
