import { request } from "../../api/request.ts";
import type { ListPage } from "../../api/types.ts";
import { type Loading, useLoading } from "../../api/use-loading.ts";
import type { Entry, Log } from "./entries.ts";
import { type LogWindow, type MergedPage, mergePage, type Position, windowOf } from "./merged-log.ts";

export const activityPageSize = 50;
const pollMs = 15_000;

/** A page of several logs merged into one. Without a position, it is the newest page and is kept up to date. */
export function useActivity(logs: readonly Log[], position: Position | undefined): Loading<MergedPage<Entry>> {
  // The address holds everything that the request depends on.
  const address = logs.length === 0 ? undefined : JSON.stringify([logs.map(({ path }) => path), position]);
  const loadPage = async (_address: string, signal: AbortSignal): Promise<MergedPage<Entry>> => {
    const windows = await Promise.all(logs.map((log, index) => loadWindow(log, position?.[index], signal)));
    return mergePage(windows, position ?? windows.map(({ total }) => total), activityPageSize);
  };
  return useLoading(address, loadPage, { pollMs: position ? undefined : pollMs });
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
