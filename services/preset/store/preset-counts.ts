import { idToBytes } from "../../platform/domain/ids.ts";
import type { Executor, Statement } from "../../platform/mysql/pool.ts";
import { selectTotal } from "../../platform/mysql/select-total.ts";
import { cachedByCount, repeated } from "../../platform/mysql/text-by-count.ts";
import type { Preset } from "../domain/preset.ts";

/** The count of a workspace is the sum of its slots, so that processes that add to it rarely wait for each other. */
const slots = 16;

/** How many presets a workspace has. */
export function findPresetCount(executor: Executor, workspaceId: string): Promise<number> {
  const sql = "SELECT COALESCE(SUM(presets), 0) AS total FROM preset_counts WHERE workspace_id = ?";
  return selectTotal(executor, sql, [idToBytes(workspaceId)]);
}

const add = cachedByCount(
  (count) => `INSERT INTO preset_counts (workspace_id, slot, presets) VALUES ${repeated(count, "(?, ?, ?)")}
    ON DUPLICATE KEY UPDATE presets = presets + VALUES(presets)`,
);

/**
 * Adds new presets to the counts of their workspaces. Last in a transaction: from here to the commit, others that use
 * the same slot of a workspace wait.
 */
export function addingToCounts(added: readonly Preset[]): Statement {
  const counts = new Map<string, number>();
  for (const { workspaceId } of added) counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + 1);
  const slot = Math.floor(Math.random() * slots);
  const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    sql: add(rows.length),
    values: rows.flatMap(([workspaceId, count]) => [idToBytes(workspaceId), slot, count]),
  };
}
