import { useEffect, useState } from "preact/hooks";
import { type ApiError, asApiError } from "./api-error.ts";

export interface Loading<T> {
  /** The last value, which stays while the next one is on its way; beside an error, only one of this address. */
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  /** Whether the answer for this address has not come yet: the value, if any, is of another one or from before. */
  readonly isLoading: boolean;
  /** Loads it again; what went wrong before is not shown meanwhile. */
  reload(): void;
}

interface State<T> {
  readonly address: string | undefined;
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
}

interface LoadingOptions<T> {
  /** What is shown of this address until it is loaded. */
  readonly known?: T | undefined;
  /** How often it is loaded again; undefined: not by itself. */
  readonly pollMs?: number | undefined;
}

/** Loads what an address stands for, again whenever that changes; undefined stands for nothing. */
export function useLoading<T>(
  address: string | undefined,
  load: (address: string, signal: AbortSignal) => Promise<T>,
  { known, pollMs }: LoadingOptions<T> = {},
): Loading<T> {
  const [state, setState] = useState<State<T>>({ address: undefined, value: undefined, error: undefined });
  const [round, setRound] = useState(0);
  const isLoading = state.address !== address;
  // Of another address nothing stays that could be taken for what is asked for and cannot be loaded.
  const ownValue = isLoading ? known : state.value;

  // A new round loads the same address again.
  useEffect(() => {
    if (address === undefined) return;
    const abort = new AbortController();
    load(address, abort.signal).then(
      (loaded) => {
        if (!abort.signal.aborted) setState({ address, value: loaded, error: undefined });
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setState({ address, value: ownValue, error: asApiError(error) });
      },
    );
    return () => abort.abort();
  }, [address, round]);

  const loadAgain = (): void => setRound((count) => count + 1);
  usePolling(loadAgain, pollMs);
  useRetry(state.error, loadAgain);
  const reload = (): void => {
    setState((old) => ({ ...old, error: undefined }));
    loadAgain();
  };
  // What went wrong at another address says nothing of this one.
  return { value: ownValue ?? state.value, error: isLoading ? undefined : state.error, isLoading, reload };
}

/** Does something again and again while somebody looks. */
export function usePolling(run: () => void, everyMs: number | undefined): void {
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => document.visibilityState === "visible" && run(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** Nobody has to ask for what could not be reached: it is there again as soon as it can be. */
export function useRetry(error: ApiError | undefined, load: () => void): void {
  useEffect(() => {
    if (error?.status !== 0) return;
    const timer = setTimeout(load, 5_000);
    return () => clearTimeout(timer);
  }, [error]);
}
