/** What merging needs of an entry. */
interface Timed {
  readonly created_at: string;
}

/** A part of a log that only grows, newest entry first. */
export interface LogWindow<E extends Timed> {
  /** How many entries the log has in all. */
  readonly total: number;
  /** How many entries are newer than the first of `entries`. */
  readonly offset: number;
  readonly entries: readonly E[];
}

/**
 * Where a page of the merged log begins: for each log, how many of its entries are on the page or older. New entries do
 * not change these numbers, so an address always shows the same entries.
 */
export type Position = readonly number[];

export interface MergedPage<E extends Timed> {
  readonly entries: readonly E[];
  /** How many entries are newer than this page, and how many there are in all. */
  readonly newerCount: number;
  readonly total: number;
  /** Where the previous page begins: "newest" if that is the first page; undefined if this one is. */
  readonly newer: Position | "newest" | undefined;
  /** Where the next page begins; undefined if there is none. */
  readonly older: Position | undefined;
}

/** The same part of a log that ends earlier: with the given number of its oldest entries. */
export function cutOff<E extends Timed>({ total, offset, entries }: LogWindow<E>, end: number): LogWindow<E> {
  const later = Math.max(0, total - end);
  return {
    total: total - later,
    offset: Math.max(0, offset - later),
    entries: entries.slice(Math.max(0, later - offset)),
  };
}

/**
 * How many entries of a log are older than a moment. The API cannot tell, so they are found by halving. `entryAt` loads
 * the entry at a number from 1, the oldest; undefined if that failed because the log has grown.
 */
export async function countBefore<E extends Timed>(
  total: number,
  momentMs: number,
  entryAt: (number: number) => Promise<E | undefined>,
): Promise<number> {
  let older = 0;
  let open = total;
  while (older < open) {
    const middle = Math.ceil((older + open) / 2);
    const entry = await entryAt(middle);
    if (!entry) continue;
    if (Date.parse(entry.created_at) < momentMs) older = middle;
    else open = middle - 1;
  }
  return older;
}

/** The part of a log that a page needs: a page's length on either side of its beginning. */
export function windowOf(
  total: number,
  start: number,
  size: number,
): { readonly offset: number; readonly limit: number } {
  const newer = Math.max(0, total - start);
  const offset = Math.max(0, newer - size);
  return { offset, limit: newer - offset + size };
}

/** Merges parts of several logs into the page that begins at a position. Each log keeps its own order. */
export function mergePage<E extends Timed>(
  windows: readonly LogWindow<E>[],
  position: Position,
  size: number,
): MergedPage<E> {
  const starts = windows.map(({ total }, index) => Math.min(total, position[index] ?? total));
  const olderOf = windows.map(({ total, offset, entries }, index) =>
    entries.slice(total - (starts[index] ?? 0) - offset),
  );
  const newerOf = windows.map(({ total, offset, entries }, index) =>
    entries.slice(0, total - (starts[index] ?? 0) - offset).reverse(),
  );
  const page = merge(olderOf, size, (one, other) => one >= other);
  const before = merge(newerOf, size, (one, other) => one < other);
  const totals = windows.map(({ total }) => total);
  const newer = starts.map((start, index) => start + (before.taken[index] ?? 0));
  const older = starts.map((start, index) => start - (page.taken[index] ?? 0));
  const isFirst = starts.every((start, index) => start === totals[index]);
  const isNext = newer.every((each, index) => each === totals[index]);
  return {
    entries: page.entries,
    newerCount: sum(totals) - sum(starts),
    total: sum(totals),
    newer: isFirst ? undefined : isNext ? "newest" : newer,
    older: sum(older) > 0 ? older : undefined,
  };
}

/**
 * Takes the first entries from the heads of all lists. At equal times, the entry of the earlier list counts as newer.
 */
function merge<E extends Timed>(
  lists: readonly (readonly E[])[],
  size: number,
  isAhead: (one: string, other: string) => boolean,
): { readonly entries: readonly E[]; readonly taken: readonly number[] } {
  const taken = lists.map(() => 0);
  const entries: E[] = [];
  while (entries.length < size) {
    let best: { readonly list: number; readonly entry: E } | undefined;
    for (const [list, candidates] of lists.entries()) {
      const entry = candidates[taken[list] ?? 0];
      if (entry && (!best || !isAhead(best.entry.created_at, entry.created_at))) best = { list, entry };
    }
    if (!best) break;
    taken[best.list] = (taken[best.list] ?? 0) + 1;
    entries.push(best.entry);
  }
  return { entries, taken };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Reads a position from an address, such as `37.120`. Undefined if it is none for this number of logs. */
export function positionFrom(text: string | null, logs: number): Position | undefined {
  if (text === null || !/^\d{1,9}(\.\d{1,9})*$/.test(text)) return undefined;
  const position = text.split(".").map(Number);
  return position.length === logs ? position : undefined;
}
