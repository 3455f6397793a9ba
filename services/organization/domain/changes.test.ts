import { expect, it } from "vitest";
import { differencesOf } from "./changes.ts";

it.each([
  ["nothing", { a: 1, b: ["x"] }, { a: 1, b: ["x"] }, []],
  ["a new value", {}, { a: "x", b: null }, [{ field: "a", from: null, to: "x" }]],
  ["a removed value", { a: "x" }, {}, [{ field: "a", from: "x", to: null }]],
  ["an element of a list", { a: ["x"] }, { a: ["x", "y"] }, [{ field: "a", from: ["x"], to: ["x", "y"] }]],
  [
    "each field that differs, in order",
    { a: 1, b: 2, c: 3 },
    { a: 0, b: 2, c: false },
    [
      { field: "a", from: 1, to: 0 },
      { field: "c", from: 3, to: false },
    ],
  ],
])("the change log shows %s", (_name, before, after, expected) => {
  expect(differencesOf(before, after)).toEqual(expected);
});
