import { describe, expect, it } from "vitest";
import {
  countBefore,
  cutOff,
  type MergedPage,
  mergePage,
  type Position,
  positionFrom,
  windowOf,
} from "./merged-log.ts";

interface Entry {
  readonly id: string;
  readonly created_at: string;
}

/** Newest first, with the times of the given seconds. */
function logOf(name: string, seconds: readonly number[]): readonly Entry[] {
  return seconds
    .map((second, index) => ({ id: `${name}${index + 1}`, created_at: new Date(second * 1_000).toISOString() }))
    .reverse();
}

function pageAt(logs: readonly (readonly Entry[])[], position: Position | undefined, size: number): MergedPage<Entry> {
  const windows = logs.map((log, index) => {
    const { offset, limit } = windowOf(log.length, position?.[index] ?? log.length, size);
    return { total: log.length, offset, entries: log.slice(offset, offset + limit) };
  });
  return mergePage(windows, position ?? logs.map((log) => log.length), size);
}

function allPages(logs: readonly (readonly Entry[])[], size: number): MergedPage<Entry>[] {
  const pages = [pageAt(logs, undefined, size)];
  for (let last = pages.at(-1); last?.older; last = pages.at(-1)) pages.push(pageAt(logs, last.older, size));
  return pages;
}

const idsOf = (pages: readonly MergedPage<Entry>[]): string[] =>
  pages.flatMap(({ entries }) => entries.map(({ id }) => id));

describe("two merged logs", () => {
  const cases: readonly (readonly [string, readonly number[], readonly number[]])[] = [
    ["alternating", [1, 3, 5, 7, 9, 11], [2, 4, 6, 8, 10]],
    ["one all newer", [1, 2, 3, 4], [5, 6, 7, 8, 9]],
    ["the same times", [1, 1, 2, 2, 3], [1, 2, 2, 3, 3]],
    ["one empty", [], [1, 2, 3, 4, 5, 6, 7]],
    ["both empty", [], []],
    ["a clock that was set back", [5, 3, 9, 4], [1, 8, 2, 7]],
  ];
  for (const [name, a, b] of cases) {
    for (const size of [1, 2, 3, 50]) {
      it(`have every entry once, in pages of ${size}: ${name}`, () => {
        const logs = [logOf("a", a), logOf("b", b)];
        const pages = allPages(logs, size);
        const ids = idsOf(pages);
        expect([...ids].sort()).toEqual(
          logs
            .flat()
            .map(({ id }) => id)
            .sort(),
        );
        for (const prefix of ["a", "b"]) {
          const own = ids.filter((id) => id.startsWith(prefix));
          expect(own).toEqual(logs.flat().flatMap(({ id }) => (id.startsWith(prefix) ? [id] : [])));
        }
        for (const [index, page] of pages.entries()) expect(page.newerCount).toBe(index * size);
      });
    }
  }

  it("are ordered by time if each log is", () => {
    const logs = [logOf("a", [1, 4, 6, 6, 20]), logOf("b", [2, 3, 6, 21, 22])];
    const times = allPages(logs, 3).flatMap(({ entries }) => entries.map(({ created_at }) => created_at));
    expect(times).toEqual([...times].sort().reverse());
  });

  it("cut off at a time equal logs that end there", () => {
    const logs = [logOf("a", [1, 3, 5, 7, 9, 11]), logOf("b", [2, 4, 6, 8, 10])];
    const ends = [4, 1];
    const shorter = logs.map((log, index) => log.slice(log.length - (ends[index] ?? 0)));
    for (const { older, ...expected } of allPages(shorter, 2)) {
      const start = expected.entries[0]?.created_at ?? "";
      const position = shorter.map((log) => log.filter(({ created_at }) => created_at <= start).length);
      const windows = logs.map((log, index) => {
        const { offset, limit } = windowOf(log.length, position[index] ?? 0, 2);
        const loaded = { total: log.length, offset, entries: log.slice(offset, offset + limit) };
        return cutOff(loaded, ends[index] ?? 0);
      });
      expect(mergePage(windows, position, 2)).toEqual({ ...expected, older });
    }
  });

  it.each([
    [0, 0],
    [1, 0],
    [2, 1],
    [5, 3],
    [6, 5],
    [99, 6],
  ])("counts the entries older than second %i: %i", async (second, count) => {
    const log = logOf("a", [1, 2, 4, 5, 5, 9]).toReversed();
    let calls = 0;
    // The log has grown before the first of them.
    const entryAt = async (number: number) => (calls++ === 0 ? undefined : log[number - 1]);
    const found = await countBefore(log.length, second * 1_000, entryAt);
    expect(found).toBe(count);
  });

  it("page back over the same pages", () => {
    const logs = [logOf("a", [1, 3, 5, 5, 9, 11]), logOf("b", [2, 4, 5, 8, 10])];
    const forth = allPages(logs, 2);
    const back = [forth.at(-1) as MergedPage<Entry>];
    // The last page may be short. Page borders would differ on the way back only if that began at the end of the page.
    for (let page = back[0]; page?.newer; page = back[0]) {
      back.unshift(pageAt(logs, page.newer === "newest" ? undefined : page.newer, 2));
    }
    expect(idsOf(back)).toEqual(idsOf(forth));
  });

  it("show the same entries at a position after more were added", () => {
    const before = [logOf("a", [1, 3, 5, 7]), logOf("b", [2, 4, 6])];
    const position = pageAt(before, undefined, 2).older;
    const after = [logOf("a", [1, 3, 5, 7, 30, 31, 32]), logOf("b", [2, 4, 6, 33])];
    expect(pageAt(after, position, 2).entries).toEqual(pageAt(before, position, 2).entries);
  });
});

it.each([
  ["3.5", [3, 5]],
  ["3", undefined],
  ["3.5.7", undefined],
  ["a.b", undefined],
  ["-1.2", undefined],
  [null, undefined],
])("parses the position %s as %j", (text, position) => expect(positionFrom(text, 2)).toEqual(position));
