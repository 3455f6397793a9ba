import { useEffect, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import { request } from "../../api/request.ts";
import type { Page } from "../../api/types.ts";
import type { Entry, Log } from "./entries.ts";
import { type LogWindow, type MergedPage, mergePage, type Position, windowOf } from "./merged-log.ts";

export const activityPageSize = 50;
const pollMs = 15_000;

interface Activity {
  /** The last page, which stays while the next one is on its way. */
  readonly page: MergedPage<Entry> | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  reload(): void;
}

interface State {
  readonly address: string | undefined;
  readonly page: MergedPage<Entry> | undefined;
  readonly error: ApiError | undefined;
}

/** A page of several logs as one; the newest one, kept up to date, where no position is given. */
export function useActivity(logs: readonly Log[], position: Position | undefined): Activity {
  const [state, setState] = useState<State>({ address: undefined, page: undefined, error: undefined });
  const [round, setRound] = useState(0);
  const address = JSON.stringify([logs.map(({ path }) => path), position]);

  // Whatever is asked for is in the address; a new round asks for it again.
  useEffect(() => {
    const abort = new AbortController();
    const windows = logs.map((log, index) => loadWindow(log, position?.[index], abort.signal));
    Promise.all(windows).then(
      (loaded) => {
        const start = position ?? loaded.map(({ total }) => total);
        if (!abort.signal.aborted)
          setState({ address, page: mergePage(loaded, start, activityPageSize), error: undefined });
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setState((old) => ({ address, page: old.page, error: asApiError(error) }));
      },
    );
    return () => abort.abort();
  }, [address, round]);

  const isNewest = position === undefined;
  const load = (): void => setRound((count) => count + 1);
  const reload = (): void => {
    setState((old) => ({ ...old, error: undefined }));
    load();
  };
  useEffect(() => {
    if (!isNewest) return;
    const timer = setInterval(() => document.visibilityState === "visible" && load(), pollMs);
    return () => clearInterval(timer);
  }, [isNewest]);
  return { page: state.page, error: state.error, isLoading: state.address !== address, reload };
}

/** How long each log was when it was last seen. */
const totals = new Map<string, number>();

/** The API counts from the newest entry, and a position from the oldest: so it is asked again where the log has grown. */
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
  const { json } = await request<Page<never>>(`${path}&offset=${offset}&limit=${limit}`, { signal });
  totals.set(path, json.total_count);
  return { total: json.total_count, offset, entries: json.data.map(read) };
}
