import { describe, expect, it } from "vitest";
import { elementsAt } from "./json-walk.ts";

function elementsOf(list: readonly string[]): unknown[] {
  const bytes = Buffer.from(JSON.stringify(list));
  const places = elementsAt({ bytes, longValues: new Map() }, 0, list.length);
  return places.map(({ start, end }) => JSON.parse(bytes.toString("utf8", start, end)));
}

const lengths = Array.from({ length: 140 }, (_, length) => length);

describe("the end of a string", () => {
  it.each(["", '"', "\\", '\\"', '"\\', '\\\\"', "é"])("is found at any length, with %j before it", (end) => {
    const texts = lengths.map((length) => "a".repeat(length) + end);
    expect(elementsOf(texts)).toEqual(texts);
  });

  it.each(['"', "\\", '\\"', `${"b".repeat(40)}"`, `${"b".repeat(40)}\\`])(
    "is found if the string is full of %j",
    (unit) => {
      const texts = lengths.map((length) => "a".repeat(length) + unit.repeat(9));
      expect(elementsOf(texts)).toEqual(texts);
    },
  );
});
