import type { Page } from "../../platform/domain/page.ts";
import { isUnknownColumn } from "../../platform/mysql/errors.ts";
import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import type { Trace } from "../../platform/observe/trace.ts";
import type { PresetFilter } from "../domain/preset-filter.ts";
import { deleteMarks, extendMarks } from "./change-marks.ts";
import { type ChangePage, listChanges } from "./list-changes.ts";
import { listPresets, type PresetPage } from "./list-presets.ts";
import { listSlugsNear } from "./list-slugs-near.ts";
import { listVersions, type VersionPage } from "./list-versions.ts";
import { listWorkspaceChanges, type MarksNeeded, type WorkspaceChangePage } from "./list-workspace-changes.ts";

/**
 * Lists, read from a replica where there is one. That may lag behind, so what it shows may be a little old, but it is
 * not believed that there is nothing: who has just made a preset, or been told of a version, finds it.
 */
export class PresetLists {
  readonly #primary: Pool;
  readonly #replica: Pool;
  #isMarking = false;

  /** Without a replica both are the primary. */
  constructor(primary: Pool, replica: Pool) {
    this.#primary = primary;
    this.#replica = replica;
  }

  listPresets(workspaceId: string, filter: PresetFilter, page: Page, trace?: Trace): Promise<PresetPage> {
    return listPresets(this.#replica, workspaceId, filter, page, trace);
  }

  listSlugsNear(workspaceId: string, slug: string, trace?: Trace): Promise<string[]> {
    return listSlugsNear(this.#replica.within(trace), workspaceId, slug);
  }

  /** Undefined where there is no such preset. */
  listVersions(workspaceId: string, slug: string, page: Page, trace?: Trace): Promise<VersionPage | undefined> {
    return this.#list(
      trace,
      (executor) => listVersions(executor, workspaceId, slug, page),
      ({ versions }) => versions,
    );
  }

  /** Undefined where there is no such preset. */
  listChanges(workspaceId: string, slug: string, page: Page, trace?: Trace): Promise<ChangePage | undefined> {
    return this.#list(
      trace,
      (executor) => listChanges(executor, workspaceId, slug, page),
      ({ changes }) => changes,
    );
  }

  listWorkspaceChanges(workspaceId: string, page: Page, trace?: Trace): Promise<WorkspaceChangePage> {
    const onMarks = (needed: MarksNeeded) => void this.#mark(workspaceId, needed);
    return listWorkspaceChanges(this.#replica, workspaceId, page, onMarks, trace);
  }

  /** In the background, for one workspace at a time: pages are found without marks, too, and who asks later tries again. */
  async #mark(workspaceId: string, { totalCount, areFalse }: MarksNeeded): Promise<void> {
    if (this.#isMarking) return;
    this.#isMarking = true;
    try {
      if (areFalse) await deleteMarks(this.#primary, workspaceId);
      else await extendMarks(this.#primary, workspaceId, totalCount);
    } catch {
      // A database that has gone away, or may not be written to.
    } finally {
      this.#isMarking = false;
    }
  }

  async #list<P>(
    trace: Trace | undefined,
    list: (executor: Executor) => Promise<P | undefined>,
    rowsOf: (page: P) => readonly unknown[],
  ): Promise<P | undefined> {
    const primary = this.#primary.within(trace);
    if (this.#replica === this.#primary) return list(primary);
    const found = await list(this.#replica.within(trace)).catch((error: unknown) => {
      // The primary has been migrated, or we would not be here; the replica is about to be.
      if (!isUnknownColumn(error)) throw error;
      return undefined;
    });
    return found && rowsOf(found).length > 0 ? found : list(primary);
  }
}
