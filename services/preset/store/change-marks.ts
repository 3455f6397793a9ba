import { idToBytes } from "../../platform/domain/ids.ts";
import { limitClause } from "../../platform/mysql/limit-clause.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";

/** So many changes of a workspace are older than this time. */
interface ChangeMark {
  readonly changes: number;
  readonly createdAt: Date;
}

/** How many changes are between two marks. To walk over as many takes a few milliseconds. */
export const markSpacing = 10_000;

/**
 * What is so much older than the newest change is complete: no transaction takes as long, no replica that is behind has
 * later changes without it, and clocks of processes do not differ by so much. Where they do, `agrees` notices.
 */
const settledMs = 10 * 60_000;

const start: ChangeMark = { changes: 0, createdAt: new Date(0) };

/** The last mark before the change of this number, from the oldest on; undefined where there is none, or not yet. */
export async function findMark(
  executor: Executor,
  workspaceId: string,
  changes: number,
): Promise<ChangeMark | undefined> {
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT changes, created_at FROM preset_change_marks WHERE workspace_id = ? AND changes <= ?
      ORDER BY changes DESC LIMIT 1`,
    [idToBytes(workspaceId), changes],
  );
  return rows[0] && { changes: rows[0].changes, createdAt: rows[0].created_at };
}

/** Whether the marks are true: with what came after the last of them, there are as many changes as there are. */
export async function agrees(executor: Executor, workspaceId: string, totalCount: number): Promise<boolean> {
  const last = (await findMark(executor, workspaceId, totalCount)) ?? start;
  return last.changes + (await countBetween(executor, workspaceId, last.createdAt)) === totalCount;
}

/** Makes the marks that are missing behind the last one. */
export async function extendMarks(executor: Executor, workspaceId: string, totalCount: number): Promise<void> {
  const newest = await findTime(executor, workspaceId, "created_at DESC", start.createdAt, 0);
  const settledUntil = new Date((newest?.getTime() ?? 0) - settledMs);
  for (let last = (await findMark(executor, workspaceId, totalCount)) ?? start; ; ) {
    const createdAt = await findTime(executor, workspaceId, "created_at", last.createdAt, markSpacing);
    // With more changes of one time than are between two marks, there is nothing between them to begin at.
    if (!createdAt || createdAt > settledUntil || createdAt <= last.createdAt) return;
    last = {
      createdAt,
      changes: last.changes + (await countBetween(executor, workspaceId, last.createdAt, createdAt)),
    };
    await executor.execute(
      `INSERT INTO preset_change_marks (workspace_id, changes, created_at) VALUES (?, ?, ?)
        ON DUPLICATE KEY UPDATE created_at = VALUES(created_at)`,
      [idToBytes(workspaceId), last.changes, last.createdAt],
    );
  }
}

export async function deleteMarks(executor: Executor, workspaceId: string): Promise<void> {
  await executor.execute("DELETE FROM preset_change_marks WHERE workspace_id = ?", [idToBytes(workspaceId)]);
}

async function findTime(
  executor: Executor,
  workspaceId: string,
  order: "created_at" | "created_at DESC",
  from: Date,
  offset: number,
): Promise<Date | undefined> {
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT created_at FROM preset_changes FORCE INDEX (preset_changes_created)
      WHERE workspace_id = ? AND created_at >= ? ORDER BY ${order} ${limitClause(1, offset)}`,
    [idToBytes(workspaceId), from],
  );
  return rows[0]?.created_at;
}

async function countBetween(executor: Executor, workspaceId: string, from: Date, until?: Date): Promise<number> {
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT COUNT(*) AS total FROM preset_changes FORCE INDEX (preset_changes_created)
      WHERE workspace_id = ? AND created_at >= ? ${until ? "AND created_at < ?" : ""}`,
    [idToBytes(workspaceId), from, ...(until ? [until] : [])],
  );
  return Number(rows[0]?.total);
}
