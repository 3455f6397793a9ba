import { idToBytes } from "../../platform/domain/ids.ts";
import { limitClause } from "../../platform/mysql/limit-clause.ts";
import type { Executor, Pool, PoolConnection, RowDataPacket } from "../../platform/mysql/pool.ts";
import { selectTotal } from "../../platform/mysql/select-total.ts";
import { inSnapshot, inTransaction } from "../../platform/mysql/transaction.ts";
import type { ChangeFilter } from "../domain/change.ts";
import { type IndexedChanges, indexedChanges, unfiltered } from "./workspace-change-index.ts";

/** A mark: how many changes of a workspace that match a filter are older than a time. */
interface ChangeMark {
  readonly changes: number;
  readonly createdAt: Date;
}

/** How many changes are between two marks. Walking over that many takes about a millisecond. */
export const markSpacing = 2_000;

/**
 * Changes this much older than now, and than the newest one, are complete: no transaction takes as long, and the clocks
 * of processes do not differ by so much. If they do, `areMarksCorrect` notices.
 */
const settledMs = 10 * 60_000;

const start: ChangeMark = { changes: 0, createdAt: new Date(0) };

/**
 * The last mark before the change with this number, counted from the oldest, or the last of all; undefined if there is
 * none.
 */
export async function findMark(
  executor: Executor,
  workspaceId: string,
  filter: ChangeFilter,
  changes?: number,
): Promise<ChangeMark | undefined> {
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT changes, created_at FROM preset_change_marks WHERE workspace_id = ? AND user_id = ? AND action = ?
      ${changes === undefined ? "" : "AND changes <= ?"} ORDER BY changes DESC LIMIT 1`,
    [...markValues(workspaceId, filter), ...(changes === undefined ? [] : [changes])],
  );
  return rows[0] && { changes: rows[0].changes, createdAt: rows[0].created_at };
}

export function countSince(
  executor: Executor,
  { from, where, values }: IndexedChanges,
  since: Date,
  until?: Date,
): Promise<number> {
  return selectTotal(
    executor,
    `SELECT COUNT(*) AS total FROM ${from} WHERE ${where} AND created_at >= ? ${until ? "AND created_at < ?" : ""}`,
    [...values, since, ...(until ? [until] : [])],
  );
}

/**
 * A preset has as many changes as its revision says, so presets are summed instead of counting their changes. The index
 * that contains the revision is forced, because servers would read the rows themselves.
 */
export function sumRevisions(executor: Executor, workspaceId: string): Promise<number> {
  return selectTotal(
    executor,
    "SELECT COALESCE(SUM(revision), 0) AS total FROM presets FORCE INDEX (presets_updated) WHERE workspace_id = ?",
    [idToBytes(workspaceId)],
  );
}

/**
 * Whether the marks of a workspace are right: those for all changes must agree with the presets. No mark of a filter is
 * later or created earlier than the last of these, so whatever makes one of them wrong makes these wrong, too.
 */
export function areMarksCorrect(pool: Pool, workspaceId: string): Promise<boolean> {
  return inSnapshot(pool, async (connection) => {
    const last = await findMark(connection, workspaceId, unfiltered);
    if (!last) return true;
    const later = await countSince(connection, indexedChanges(workspaceId, unfiltered), last.createdAt);
    return last.changes + later === (await sumRevisions(connection, workspaceId));
  });
}

/** Creates the missing marks after the last one: for all changes, then for those that match the filter. */
export async function extendMarks(pool: Pool, workspaceId: string, filter: ChangeFilter): Promise<void> {
  const changes = indexedChanges(workspaceId, unfiltered);
  const newest = await findTime(pool, changes, "created_at DESC", start.createdAt, 0);
  if (!newest) return;
  const settledUntil = new Date(Math.min(newest.getTime(), Date.now()) - settledMs);
  const last = await extend(pool, workspaceId, unfiltered, settledUntil);
  if (filter.action || filter.userId) await extend(pool, workspaceId, filter, last.createdAt);
}

/** Returns the last mark that exists afterwards. */
async function extend(pool: Pool, workspaceId: string, filter: ChangeFilter, until: Date): Promise<ChangeMark> {
  const changes = indexedChanges(workspaceId, filter);
  for (let last = (await findMark(pool, workspaceId, filter)) ?? start; ; ) {
    const createdAt = await findTime(pool, changes, "created_at", last.createdAt, markSpacing);
    // If more changes than fit between two marks have the same time, there is nowhere to place a mark among them.
    if (!createdAt || createdAt > until || createdAt <= last.createdAt) return last;
    const next = {
      createdAt,
      changes: last.changes + (await countSince(pool, changes, last.createdAt, createdAt)),
    };
    if (!(await insertMark(pool, workspaceId, filter, next, last))) return last;
    last = next;
  }
}

/** False if the mark before it has been deleted meanwhile because it was wrong: then this one is wrong, too. */
function insertMark(
  pool: Pool,
  workspaceId: string,
  filter: ChangeFilter,
  { changes, createdAt }: ChangeMark,
  last: ChangeMark,
): Promise<boolean> {
  const values = markValues(workspaceId, filter);
  return inTransaction(pool, async (connection: PoolConnection) => {
    if (last !== start) {
      const [rows] = await connection.execute<RowDataPacket[]>(
        `SELECT changes FROM preset_change_marks WHERE workspace_id = ? AND user_id = ? AND action = ?
          AND changes = ? AND created_at = ? FOR UPDATE`,
        [...values, last.changes, last.createdAt],
      );
      if (rows.length === 0) return false;
    }
    await connection.execute(
      `INSERT INTO preset_change_marks (workspace_id, user_id, action, changes, created_at) VALUES (?, ?, ?, ?, ?)
        ON DUPLICATE KEY UPDATE created_at = VALUES(created_at)`,
      [...values, changes, createdAt],
    );
    return true;
  });
}

/** For all filters. */
export async function deleteMarks(executor: Executor, workspaceId: string): Promise<void> {
  await executor.execute("DELETE FROM preset_change_marks WHERE workspace_id = ?", [idToBytes(workspaceId)]);
}

function markValues(workspaceId: string, { userId, action }: ChangeFilter): (Buffer | string)[] {
  return [idToBytes(workspaceId), userId ?? "", action ?? ""];
}

async function findTime(
  executor: Executor,
  { from, where, values }: IndexedChanges,
  order: "created_at" | "created_at DESC",
  since: Date,
  offset: number,
): Promise<Date | undefined> {
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT created_at FROM ${from} WHERE ${where} AND created_at >= ? ORDER BY ${order} ${limitClause(1, offset)}`,
    [...values, since],
  );
  return rows[0]?.created_at;
}
