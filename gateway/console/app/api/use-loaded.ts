import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError } from "./api-error.ts";
import { type Answer, request } from "./request.ts";

export interface Loaded<T> {
  /** The last answer, which stays while the next one is on its way. */
  readonly answer: Answer<T> | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  /** Loads it again; what went wrong before is not shown meanwhile. */
  reload(): void;
}

interface State<T> {
  readonly path: string | undefined;
  readonly answer: Answer<T> | undefined;
  readonly error: ApiError | undefined;
}

const answersMax = 40;
/** What was seen last at a path, so that going back shows it at once. */
const seen = new Map<string, Answer<unknown>>();

/** After a change, and for another person, nothing that was seen before may be shown. */
export function forgetAnswers(): void {
  seen.clear();
}

function remember(path: string, answer: Answer<unknown>): void {
  seen.delete(path);
  // A prompt may be a megabyte, and a page of versions a hundred of them.
  if (answer.text.length > 262_144) return;
  seen.set(path, answer);
  const [oldest] = seen.keys();
  if (seen.size > answersMax && oldest !== undefined) seen.delete(oldest);
}

/** Loads a path of the API, again whenever it changes, and where `pollMs` is given, again and again. */
export function useLoaded<T>(path: string | undefined, pollMs?: number): Loaded<T> {
  const [state, setState] = useState<State<T>>(() => ({ path: undefined, answer: seenAt<T>(path), error: undefined }));
  const [round, setRound] = useState(0);
  const isFirst = useRef(true);

  // A new round loads the same path again.
  useEffect(() => {
    if (path === undefined) return;
    const known = seenAt<T>(path);
    if (known && !isFirst.current) setState({ path, answer: known, error: undefined });
    isFirst.current = false;
    const abort = new AbortController();
    request<T>(path, { signal: abort.signal }).then(
      (answer) => {
        remember(path, answer);
        if (!abort.signal.aborted) setState({ path, answer, error: undefined });
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setState((old) => ({ path, answer: old.answer, error: asApiError(error) }));
      },
    );
    return () => abort.abort();
  }, [path, round]);

  const load = (): void => setRound((count) => count + 1);
  const reload = (): void => {
    setState((old) => (old.error ? { ...old, error: undefined } : old));
    load();
  };
  useEffect(() => {
    if (pollMs === undefined) return;
    const timer = setInterval(() => document.visibilityState === "visible" && load(), pollMs);
    return () => clearInterval(timer);
  }, [pollMs]);
  useRetry(state.error, load);
  const isLoading = state.path !== path;
  // What went wrong at another path says nothing of this one.
  return { answer: state.answer, error: isLoading ? undefined : state.error, isLoading, reload };
}

/** Nobody has to ask for what could not be reached: it is there again as soon as it can be. */
export function useRetry(error: ApiError | undefined, load: () => void): void {
  useEffect(() => {
    if (error?.status !== 0) return;
    const timer = setTimeout(load, 5_000);
    return () => clearTimeout(timer);
  }, [error]);
}

function seenAt<T>(path: string | undefined): Answer<T> | undefined {
  return path === undefined ? undefined : (seen.get(path) as Answer<T> | undefined);
}
