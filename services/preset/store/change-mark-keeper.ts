import { LRUCache } from "lru-cache";
import type { Pool } from "../../platform/mysql/pool.ts";
import type { ChangeFilter } from "../domain/change.ts";
import { areMarksCorrect, deleteMarks, extendMarks } from "./change-marks.ts";
import type { WorkspaceChangePage } from "./list-workspace-changes.ts";

/** How often the marks of a workspace are checked while it is read. */
const checkEveryMs = 60_000;
/** For how many workspaces the last check is remembered. */
const checkedMax = 1_000;

/** Creates the marks that readers of a change log would have needed, and deletes marks that are wrong. */
export class ChangeMarkKeeper {
  readonly #pool: Pool;
  /** Workspaces whose marks were checked recently. */
  readonly #checked = new LRUCache<string, true>({ max: checkedMax, ttl: checkEveryMs });
  #isBusy = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * To be called for each page that was read, without awaiting it. It never throws, and works on one workspace at a
   * time: pages are found without marks, too, and the next reader tries again.
   */
  async maintain(workspaceId: string, filter: ChangeFilter, marks: WorkspaceChangePage["marks"]): Promise<void> {
    const isCheckDue = marks.areUsed && !this.#checked.has(workspaceId);
    if (this.#isBusy || !(isCheckDue || marks.areWanted)) return;
    this.#isBusy = true;
    try {
      if (isCheckDue && !(await this.#check(workspaceId))) await deleteMarks(this.#pool, workspaceId);
      else if (marks.areWanted) await extendMarks(this.#pool, workspaceId, filter);
    } catch {
      // The database is down, or read-only.
    } finally {
      this.#isBusy = false;
    }
  }

  #check(workspaceId: string): Promise<boolean> {
    this.#checked.set(workspaceId, true);
    return areMarksCorrect(this.#pool, workspaceId);
  }
}
