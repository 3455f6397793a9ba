import type { Page } from "../../platform/domain/page.ts";
import { isUnknownColumn } from "../../platform/mysql/errors.ts";
import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import type { PresetFilter } from "../domain/preset-filter.ts";
import { type ChangePage, listChanges } from "./list-changes.ts";
import { listPresets, type PresetPage } from "./list-presets.ts";
import { listSlugsNear } from "./list-slugs-near.ts";
import { listVersions, type VersionPage } from "./list-versions.ts";

/**
 * Lists, read from a replica where there is one. That may lag behind, so what it shows may be a little old, but it is
 * not believed that there is nothing: who has just made a preset, or been told of a version, finds it.
 */
export class PresetLists {
  readonly #primary: Pool;
  readonly #replica: Pool;

  /** Without a replica both are the primary. */
  constructor(primary: Pool, replica: Pool) {
    this.#primary = primary;
    this.#replica = replica;
  }

  listPresets(workspaceId: string, filter: PresetFilter, page: Page): Promise<PresetPage> {
    return listPresets(this.#replica, workspaceId, filter, page);
  }

  listSlugsNear(workspaceId: string, slug: string): Promise<string[]> {
    return listSlugsNear(this.#replica, workspaceId, slug);
  }

  /** Undefined where there is no such preset. */
  listVersions(workspaceId: string, slug: string, page: Page): Promise<VersionPage | undefined> {
    return this.#list(
      (executor) => listVersions(executor, workspaceId, slug, page),
      ({ versions }) => versions,
    );
  }

  /** Undefined where there is no such preset. */
  listChanges(workspaceId: string, slug: string, page: Page): Promise<ChangePage | undefined> {
    return this.#list(
      (executor) => listChanges(executor, workspaceId, slug, page),
      ({ changes }) => changes,
    );
  }

  async #list<P>(
    list: (executor: Executor) => Promise<P | undefined>,
    rowsOf: (page: P) => readonly unknown[],
  ): Promise<P | undefined> {
    if (this.#replica === this.#primary) return list(this.#primary);
    const found = await list(this.#replica).catch((error: unknown) => {
      // The primary has been migrated, or we would not be here; the replica is about to be.
      if (!isUnknownColumn(error)) throw error;
      return undefined;
    });
    return found && rowsOf(found).length > 0 ? found : list(this.#primary);
  }
}
