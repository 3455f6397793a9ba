import type { Page } from "../../platform/domain/page.ts";
import type { Caller } from "../../platform/mysql/caller.ts";
import { isSchemaOlder } from "../../platform/mysql/errors.ts";
import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import type { ChangeFilter } from "../domain/change.ts";
import type { PresetFilter } from "../domain/preset-filter.ts";
import { ChangeMarkKeeper } from "./change-mark-keeper.ts";
import { findModels } from "./find-models.ts";
import { type ChangePage, listChanges } from "./list-changes.ts";
import { listPresets, type PresetPage } from "./list-presets.ts";
import { listSlugsNear } from "./list-slugs-near.ts";
import { listVersions, type VersionPage } from "./list-versions.ts";
import { listWorkspaceChanges, type WorkspaceChangePage } from "./list-workspace-changes.ts";

/**
 * Lists, read from a replica if there is one. It may lag behind, so what it shows may be a little old; if it lags behind
 * a migration, the primary is read. Only for the versions and changes of one preset, the primary is asked also if the
 * replica shows none: whoever has just created that preset, or learned of a version, finds it. What fails for a
 * transient reason is repeated.
 */
export class PresetLists {
  readonly #primary: Pool;
  readonly #replica: Pool;
  readonly #marks: ChangeMarkKeeper;

  /** Without a replica, both are the primary. */
  constructor(primary: Pool, replica: Pool) {
    this.#primary = primary;
    this.#replica = replica;
    this.#marks = new ChangeMarkKeeper(primary);
  }

  listPresets(workspaceId: string, filter: PresetFilter, page: Page, caller: Caller): Promise<PresetPage> {
    return this.#read(caller, (pool) => listPresets(pool, workspaceId, filter, page, caller));
  }

  /** By the ids of the versions. */
  findModels(
    workspaceId: string,
    versionIds: readonly string[],
    caller: Caller,
  ): Promise<ReadonlyMap<string, string | undefined>> {
    return this.#read(caller, (pool) => findModels(pool.within(caller), workspaceId, versionIds));
  }

  listSlugsNear(workspaceId: string, slug: string, caller: Caller): Promise<string[]> {
    return this.#read(caller, (pool) => listSlugsNear(pool.within(caller), workspaceId, slug));
  }

  /** Undefined if there is no such preset. */
  listVersions(workspaceId: string, slug: string, page: Page, caller: Caller): Promise<VersionPage | undefined> {
    return this.#list(
      caller,
      (executor) => listVersions(executor, workspaceId, slug, page),
      ({ versions }) => versions,
    );
  }

  /** Undefined if there is no such preset. */
  listChanges(workspaceId: string, slug: string, page: Page, caller: Caller): Promise<ChangePage | undefined> {
    return this.#list(
      caller,
      (executor) => listChanges(executor, workspaceId, slug, page),
      ({ changes }) => changes,
    );
  }

  async listWorkspaceChanges(
    workspaceId: string,
    filter: ChangeFilter,
    page: Page,
    caller: Caller,
  ): Promise<WorkspaceChangePage> {
    const found = await this.#read(caller, (pool) => listWorkspaceChanges(pool, workspaceId, filter, page, caller));
    void this.#marks.maintain(workspaceId, filter, found.marks);
    return found;
  }

  #read<T>(caller: Caller, read: (pool: Pool) => Promise<T>): Promise<T> {
    return retryTransient(caller.deadlineMs, () =>
      read(this.#replica).catch((error: unknown) => {
        if (this.#replica === this.#primary || !isSchemaOlder(error)) throw error;
        return read(this.#primary);
      }),
    );
  }

  #list<P>(
    caller: Caller,
    list: (executor: Executor) => Promise<P | undefined>,
    rowsOf: (page: P) => readonly unknown[],
  ): Promise<P | undefined> {
    const primary = this.#primary.within(caller);
    const replica = this.#replica.within(caller);
    return retryTransient(caller.deadlineMs, async () => {
      if (this.#replica === this.#primary) return list(primary);
      const found = await list(replica).catch((error: unknown) => {
        if (!isSchemaOlder(error)) throw error;
        return undefined;
      });
      return found && rowsOf(found).length > 0 ? found : list(primary);
    });
  }
}
