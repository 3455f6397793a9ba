import { expect, it } from "vitest";
import type { Executor } from "./pool.ts";
import { selectPage } from "./select-page.ts";

it.each([
  [0, "prepared"],
  [50, "as text"],
])("sends a page from offset %i %s", async (offset, way) => {
  const sent: unknown[] = [];
  const answering = (name: string) => async (sql: string, values: readonly unknown[]) => {
    sent.push([name, sql, values]);
    return [[{ id: 1 }], []];
  };
  const executor = { execute: answering("prepared"), query: answering("as text") } as unknown as Executor;
  expect(await selectPage(executor, { offset }, "SELECT ?", [1])).toEqual([{ id: 1 }]);
  expect(sent).toEqual([[way, "SELECT ?", [1]]]);
});
