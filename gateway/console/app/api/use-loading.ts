import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError } from "./api-error.ts";
import { hasEnded, session } from "./session.ts";

export interface Loading<T> {
  /** The last value, which stays while the next one is being loaded. Beside an error, only a value of this address. */
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  /**
   * Whether nothing has arrived for this address yet: the value, if any, is an earlier one or that of another address.
   */
  readonly isLoading: boolean;
  /** Loads the address again, and hides the last error meanwhile. */
  reload(): void;
  /** Loads the address again, unless it is being loaded: a silent gateway would never be given up. */
  refresh(): void;
}

interface State<T> {
  readonly address: string | undefined;
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
}

interface LoadingOptions<T> {
  /** Shown for this address until it is loaded. */
  readonly known?: T | undefined;
  /** How often the address is loaded again; undefined: never by itself. */
  readonly pollMs?: number | undefined;
}

/** Loads whatever an address stands for, and again whenever the address changes. Undefined loads nothing. */
export function useLoading<T>(
  address: string | undefined,
  load: (address: string, signal: AbortSignal) => Promise<T>,
  { known, pollMs }: LoadingOptions<T> = {},
): Loading<T> {
  const [state, setState] = useState<State<T>>({ address: undefined, value: undefined, error: undefined });
  const [round, setRound] = useState(0);
  const isPending = useRef(false);
  const isLoading = state.address !== address;
  // If this address fails to load, the value of another one must not be taken for it.
  const ownValue = isLoading ? known : state.value;

  // A new round, or a new session, loads the same address again.
  useEffect(() => {
    if (address === undefined) return;
    const abort = new AbortController();
    isPending.current = true;
    load(address, abort.signal).then(
      (loaded) => {
        if (abort.signal.aborted) return;
        isPending.current = false;
        setState({ address, value: loaded, error: undefined });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        isPending.current = false;
        // Once someone has signed in again, it is loaded again.
        if (!hasEnded.value) setState({ address, value: ownValue, error: asApiError(error) });
      },
    );
    return () => abort.abort();
  }, [address, round, session.value?.expires_at]);

  const loadAgain = (): void => setRound((count) => count + 1);
  const refresh = (): void => {
    if (!isPending.current) loadAgain();
  };
  usePolling(refresh, pollMs);
  useRetry(state.error, loadAgain);
  const reload = (): void => {
    setState((old) => ({ ...old, error: undefined }));
    loadAgain();
  };
  // An error at another address says nothing about this one.
  return { value: ownValue ?? state.value, error: isLoading ? undefined : state.error, isLoading, reload, refresh };
}

/** Runs something at an interval, but only while the page is visible. */
export function usePolling(run: () => unknown, everyMs: number | undefined): void {
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => document.visibilityState === "visible" && run(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** Retries by itself after a lost connection, so that nobody has to reload. */
export function useRetry(error: ApiError | undefined, load: () => void): void {
  useEffect(() => {
    if (error?.status !== 0) return;
    const timer = setTimeout(load, 5_000);
    return () => clearTimeout(timer);
  }, [error]);
}
