import { useMemo } from "preact/hooks";
import { type Answer, request } from "./request.ts";
import { type Loading, useLoading } from "./use-loading.ts";

export interface Loaded<T> extends Omit<Loading<Answer<T>>, "value"> {
  /** The last response, which stays while the next one is being loaded. */
  readonly answer: Answer<T> | undefined;
}

/** Loads an API path whenever it changes, and every `pollMs` if that is given. */
export function useLoaded<T>(path: string | undefined, pollMs?: number): Loaded<T> {
  const known = useMemo(() => seenAt<T>(path), [path]);
  const { value, ...state } = useLoading(path, load<T>, { known, pollMs });
  return { answer: value, ...state };
}

async function load<T>(path: string, signal: AbortSignal): Promise<Answer<T>> {
  const answer = await request<T>(path, { signal });
  remember(path, answer);
  return answer;
}

const answersMax = 40;
/** The last response for each path, so that going back shows it at once. */
const seen = new Map<string, Answer<unknown>>();

/** Nothing cached may be shown after a change, or to another person. */
export function forgetAnswers(): void {
  seen.clear();
}

function seenAt<T>(path: string | undefined): Answer<T> | undefined {
  return path === undefined ? undefined : (seen.get(path) as Answer<T> | undefined);
}

function remember(path: string, answer: Answer<unknown>): void {
  seen.delete(path);
  // A prompt may be a megabyte, and a page may hold a hundred versions.
  if (answer.text.length > 262_144) return;
  seen.set(path, answer);
  const [oldest] = seen.keys();
  if (seen.size > answersMax && oldest !== undefined) seen.delete(oldest);
}
