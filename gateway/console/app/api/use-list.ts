import { useAnnouncedTotal } from "../shell/announcer.tsx";
import type { ApiError } from "./api-error.ts";
import type { ListPage } from "./types.ts";
import { forgetAnswers, useLoaded } from "./use-loaded.ts";

export const pageSize = 50;

export interface List<T> {
  /** Undefined until the first answer. */
  readonly items: readonly T[] | undefined;
  readonly total: number | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  /** Loads it again, and forgets what was seen of other lists: what was changed may be in them, too. */
  reload(): void;
}

/** A page of a list of the API. How many there are is told to those who do not see it. */
export function useList<T>(path: string | undefined, [one, many]: readonly [one: string, many: string]): List<T> {
  const { answer, error, isLoading, reload } = useLoaded<ListPage<T>>(path, 30_000);
  const total = answer?.json.total_count;
  useAnnouncedTotal(total, isLoading, one, many);
  return {
    items: answer?.json.data,
    total,
    error,
    isLoading,
    reload() {
      forgetAnswers();
      reload();
    },
  };
}

/** The page that an address names, from 1. */
export function pageIn(query: URLSearchParams, name = "page"): number {
  return Math.max(1, Number.parseInt(query.get(name) ?? "1", 10) || 1);
}

/** What asks the API for a page. */
export function pageParameters(page: number): { readonly limit: string; readonly offset: string } {
  return { limit: String(pageSize), offset: String((page - 1) * pageSize) };
}
