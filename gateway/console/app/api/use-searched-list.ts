import { useAnnouncedTotal } from "../shell/announcer.tsx";
import { listAll } from "./list-all.ts";
import { type List, pageParameters, pageSize, useList } from "./use-list.ts";
import { useLoading } from "./use-loading.ts";

interface SearchedListOptions<T> {
  readonly path: string;
  /** Query parameters that the API knows. */
  readonly filter?: Readonly<Record<string, string>>;
  /** The search text; empty if there is none. */
  readonly q: string;
  /** Whether an item matches the search text. */
  readonly fits: (item: T) => boolean;
  readonly page: number;
  readonly isAllowed: boolean;
  readonly words: readonly [one: string, many: string];
}

export interface SearchedList<T> extends List<T> {
  /** All items of the list; undefined if only some of them are known. */
  readonly all: readonly T[] | undefined;
  /** Whether there are more items than were searched. */
  readonly isCutShort: boolean;
}

const pollMs = 30_000;

/** One page of a list that the API cannot search: for a search, all of it is loaded and searched here. */
export function useSearchedList<T>(options: SearchedListOptions<T>): SearchedList<T> {
  const { path, filter = {}, q, fits, page, isAllowed, words } = options;
  const isSearch = q !== "";
  const pagePath = `${path}?${new URLSearchParams({ ...filter, ...pageParameters(page) })}`;
  const paged = useList<T>(isAllowed && !isSearch ? pagePath : undefined, words);
  const searched = useLoading(
    isAllowed && isSearch ? JSON.stringify([path, filter]) : undefined,
    () => listAll<T>(path, filter),
    { pollMs: isSearch ? pollMs : undefined },
  );
  const all = searched.value?.items;
  const found = isSearch ? all?.filter(fits) : undefined;
  useAnnouncedTotal(found?.length, searched.isLoading, ...words);

  if (!isSearch) {
    const { items, total } = paged;
    return { ...paged, all: total !== undefined && total <= pageSize ? items : undefined, isCutShort: false };
  }
  const { error, isLoading } = searched;
  const isCutShort = searched.value?.isCutShort ?? false;
  return {
    // The previous list stays until everything is loaded.
    items: found ? found.slice((page - 1) * pageSize, page * pageSize) : error ? undefined : paged.items,
    total: found ? found.length : error ? undefined : paged.total,
    error,
    isLoading: isLoading || (!found && !error),
    all: isCutShort ? undefined : all,
    isCutShort,
    reload() {
      paged.reload();
      searched.reload();
    },
    refresh: searched.refresh,
  };
}
