import { request } from "../../api/request.ts";
import type { ListPage } from "../../api/types.ts";
import { type Loading, useLoading } from "../../api/use-loading.ts";
import type { Entry, Log } from "./entries.ts";
import {
  countBefore,
  cutOff,
  type LogWindow,
  type MergedPage,
  mergePage,
  type Position,
  windowOf,
} from "./merged-log.ts";

export const activityPageSize = 50;
const pollMs = 15_000;

/**
 * A page of several logs merged into one, up to the end of a day if one is given. The newest page of everything is kept
 * up to date.
 */
export function useActivity(
  logs: readonly Log[],
  until: string,
  position: Position | undefined,
): Loading<MergedPage<Entry>> {
  // The address holds everything that the request depends on.
  const address = logs.length === 0 ? undefined : JSON.stringify([logs.map(({ path }) => path), until, position]);
  const loadPage = async (_address: string, signal: AbortSignal): Promise<MergedPage<Entry>> => {
    const endMs = endOfDayMs(until);
    const windows = await Promise.all(
      logs.map(async (log, index) => {
        const end = endMs === undefined ? undefined : await loadEnd(log, endMs, signal);
        const loaded = await loadWindow(log, position?.[index] ?? end, signal);
        return end === undefined ? loaded : cutOff(loaded, end);
      }),
    );
    return mergePage(windows, position ?? windows.map(({ total }) => total), activityPageSize);
  };
  return useLoading(address, loadPage, { pollMs: position || until ? undefined : pollMs });
}

/** The midnight after a day, in the viewer's time zone; undefined if the text is no day. */
function endOfDayMs(day: string): number | undefined {
  const start = new Date(`${day}T00:00`);
  const endMs = start.setDate(start.getDate() + 1);
  return Number.isNaN(endMs) ? undefined : endMs;
}

/** How many entries a log had at a moment. */
async function loadEnd(log: Log, momentMs: number, signal: AbortSignal): Promise<number> {
  let { total } = await load(log, 0, 1, signal);
  return countBefore(total, momentMs, async (number) => {
    const { total: now, entries } = await load(log, total - number, 1, signal);
    const hasGrown = now !== total;
    total = now;
    return hasGrown ? undefined : entries[0];
  });
}

/** The length of each log when it was last loaded. */
const totals = new Map<string, number>();

/**
 * The API counts from the newest entry, but a position counts from the oldest. If the log has grown, it is asked again.
 */
async function loadWindow(log: Log, start: number | undefined, signal: AbortSignal): Promise<LogWindow<Entry>> {
  if (start === undefined) return load(log, 0, activityPageSize, signal);
  let total = totals.get(log.path) ?? (await load(log, 0, 1, signal)).total;
  for (;;) {
    const { offset, limit } = windowOf(total, start, activityPageSize);
    const loaded = await load(log, offset, limit, signal);
    if (loaded.total === total) return loaded;
    total = loaded.total;
  }
}

async function load(
  { path, read }: Log,
  offset: number,
  limit: number,
  signal: AbortSignal,
): Promise<LogWindow<Entry>> {
  const { json } = await request<ListPage<never>>(`${path}&offset=${offset}&limit=${limit}`, { signal });
  totals.set(path, json.total_count);
  return { total: json.total_count, offset, entries: json.data.map(read) };
}
