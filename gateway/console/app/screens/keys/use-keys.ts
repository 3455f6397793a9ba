import { listAll, listedMax } from "../../api/list-all.ts";
import { personName } from "../../api/people.ts";
import type { Key, SessionWorkspace } from "../../api/types.ts";
import { type List, pageParameters, pageSize, useList } from "../../api/use-list.ts";
import { useLoading } from "../../api/use-loading.ts";
import { useAnnouncedTotal } from "../../shell/announcer.tsx";
import { fitsSearch } from "./key-search.ts";

interface KeysWanted {
  readonly workspace: SessionWorkspace;
  readonly hasDisabled: boolean;
  readonly q: string;
  readonly page: number;
}

export interface ListedKeys extends List<Key> {
  /** All keys of the workspace that may be listed; undefined if only some of them are known. */
  readonly all: readonly Key[] | undefined;
  /** Whether there may be more keys than were searched. */
  readonly isCutShort: boolean;
}

const pollMs = 30_000;
const path = "/api/v1/keys";

/** One page of keys; undefined loads none. The API cannot search keys, so all of them are loaded and searched here. */
export function useKeys(wanted: KeysWanted | undefined): ListedKeys {
  const { workspace, hasDisabled = true, q = "", page = 1 } = wanted ?? {};
  const filter = { workspace_id: workspace?.id ?? "", include_disabled: String(hasDisabled) };
  const pagePath = `${path}?${new URLSearchParams({ ...filter, ...pageParameters(page) })}`;
  const isSearch = q !== "";
  const paged = useList<Key>(wanted && !isSearch ? pagePath : undefined, ["key", "keys"]);
  const searched = useLoading(
    wanted && isSearch ? JSON.stringify(filter) : undefined,
    () => listAll<Key>(path, filter),
    {
      pollMs: isSearch ? pollMs : undefined,
    },
  );
  const all = searched.value;
  const found = isSearch ? all?.filter((key) => fitsSearch(key, personName(key.creator_user_id), q)) : undefined;
  useAnnouncedTotal(found?.length, searched.isLoading, "key", "keys");

  if (!isSearch) {
    const { items, total } = paged;
    return { ...paged, all: total !== undefined && total <= pageSize ? items : undefined, isCutShort: false };
  }
  const { error, isLoading } = searched;
  const isCutShort = all !== undefined && all.length >= listedMax;
  return {
    // The previous list stays until all keys are loaded.
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
  };
}
