import { idToBytes } from "../../platform/domain/ids.ts";
import type { Pool, ResultSetHeader } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import { monotonicMs } from "../../platform/time/clock.ts";

/** The presets last: as long as one exists, an interrupted purge is recognizably unfinished. */
const tables = [
  "preset_updates",
  "preset_change_marks",
  "preset_changes",
  "preset_versions",
  "preset_counts",
  "presets",
] as const;

/** For one statement, which may conflict with another purge. */
const timeoutMs = 15_000;

/** Few enough that nobody waits for the locks of one statement. */
const rowsAtOnce = 500;

/**
 * Deletes everything that the service stores for a workspace, and returns the number of rows per table. It may be
 * repeated.
 */
export async function purgeWorkspace(
  pool: Pool,
  workspaceId: string,
  onProgress: (table: string, deletedCount: number) => void,
): Promise<Record<(typeof tables)[number], number>> {
  const deleted = Object.fromEntries(tables.map((table) => [table, 0])) as Record<(typeof tables)[number], number>;
  for (const table of tables) {
    for (let isDone = false; !isDone; ) {
      const [{ affectedRows }] = await retryTransient(monotonicMs() + timeoutMs, () =>
        pool.execute<ResultSetHeader>(`DELETE FROM ${table} WHERE workspace_id = ? LIMIT ${rowsAtOnce}`, [
          idToBytes(workspaceId),
        ]),
      );
      deleted[table] += affectedRows;
      isDone = affectedRows < rowsAtOnce;
      onProgress(table, deleted[table]);
    }
  }
  return deleted;
}
