import { getHeapSpaceStatistics } from "node:v8";
import { expect, it } from "vitest";
import { collectGarbage } from "../../../test/support/garbage.ts";
import { setV8Flags } from "../process/v8-flags.ts";
import { TransientMap } from "./transient-map.ts";

it("behaves like a map", () => {
  const map = new TransientMap<string, number>();
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  expect([map.size, map.get("a"), map.get("b"), map.get("c")]).toEqual([2, 3, 2, undefined]);
  map.delete("a");
  map.delete("c");
  map.set("d", 4);
  expect(map.get("a")).toBeUndefined();
  expect(map.size).toBe(2);
  expect(map.entries()).toEqual([
    ["b", 2],
    ["d", 4],
  ]);
});

it("allows changes during iteration", () => {
  const map = new TransientMap<number, string>();
  for (const key of [1, 2, 3]) map.set(key, `${key}`);
  for (const [key] of map.entries()) {
    map.delete(key);
    map.set(key + 3, "");
  }
  expect(map.entries().map(([key]) => key)).toEqual([4, 5, 6]);
});

it("keeps nothing in memory that was removed", () => {
  // As in a process. Otherwise a collection during the first passes makes V8 put all later content into the old generation.
  setV8Flags();
  const map = new TransientMap<number, object>();
  const inFlight = 3;
  let next = 0;
  const passOne = () => {
    map.set(next, { content: Array.from({ length: 100 }, (_, index) => ({ index })) });
    map.delete(next - inFlight);
    next += 1;
  };
  for (let count = 0; count < 10; count += 1) passOne();
  // What is in use then belongs to the old generation, which is not collected again during this test.
  collectGarbage();
  const before = oldBytes();
  for (let count = 0; count < 10_000; count += 1) passOne();
  expect(oldBytes() - before).toBeLessThan(5_000_000);
});

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? Number.NaN;
}
