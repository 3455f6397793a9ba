import { useAnnouncedTotal } from "../shell/announcer.tsx";
import type { ApiError } from "./api-error.ts";
import type { ListPage } from "./types.ts";
import { forgetAnswers, useLoaded } from "./use-loaded.ts";

export const pageSize = 50;

export interface List<T> {
  /** Undefined until the first response. */
  readonly items: readonly T[] | undefined;
  readonly total: number | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  /** Loads the list again and drops the cached responses of other lists, which the change may affect, too. */
  reload(): void;
  /** Loads the list again, unless it is being loaded. */
  refresh(): void;
}

/** One page of a list of the API. The total is announced to screen readers. */
export function useList<T>(path: string | undefined, [one, many]: readonly [one: string, many: string]): List<T> {
  const { answer, error, isLoading, reload, refresh } = useLoaded<ListPage<T>>(path, 30_000);
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
    refresh,
  };
}

/** The page number in a query, from 1. */
export function pageIn(query: URLSearchParams, name = "page"): number {
  return Math.max(1, Number.parseInt(query.get(name) ?? "1", 10) || 1);
}

/** The query parameters that ask the API for a page. */
export function pageParameters(page: number): { readonly limit: string; readonly offset: string } {
  return { limit: String(pageSize), offset: String((page - 1) * pageSize) };
}
