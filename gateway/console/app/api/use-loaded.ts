import { useMemo } from "preact/hooks";
import { type Answer, request } from "./request.ts";
import { type Loading, useLoading } from "./use-loading.ts";

export interface Loaded<T> extends Omit<Loading<Answer<T>>, "value"> {
  /** The last answer, which stays while the next one is on its way. */
  readonly answer: Answer<T> | undefined;
}

/** Loads a path of the API, again whenever it changes, and where `pollMs` is given, again and again. */
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
/** What was seen last at a path, so that going back shows it at once. */
const seen = new Map<string, Answer<unknown>>();

/** After a change, and for another person, nothing that was seen before may be shown. */
export function forgetAnswers(): void {
  seen.clear();
}

function seenAt<T>(path: string | undefined): Answer<T> | undefined {
  return path === undefined ? undefined : (seen.get(path) as Answer<T> | undefined);
}

function remember(path: string, answer: Answer<unknown>): void {
  seen.delete(path);
  // A prompt may be a megabyte, and a page of versions a hundred of them.
  if (answer.text.length > 262_144) return;
  seen.set(path, answer);
  const [oldest] = seen.keys();
  if (seen.size > answersMax && oldest !== undefined) seen.delete(oldest);
}
