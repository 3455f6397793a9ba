import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import { limitClause } from "../../platform/mysql/limit-clause.ts";
import type { Executor, Pool, PoolConnection, RowDataPacket } from "../../platform/mysql/pool.ts";
import { inSnapshot } from "../../platform/mysql/transaction.ts";
import type { Trace } from "../../platform/observe/trace.ts";
import type { WorkspaceChange } from "../domain/change.ts";
import { agrees, findMark, markSpacing } from "./change-marks.ts";
import { type ChangeRow, changeFromRow } from "./list-changes.ts";

/** A page, and how many changes there are in all. */
export interface WorkspaceChangePage {
  readonly changes: readonly WorkspaceChange[];
  readonly totalCount: number;
}

/** Newest first. Both come from one snapshot, so that the page never contradicts the count. */
export function listWorkspaceChanges(
  pool: Pool,
  workspaceId: string,
  page: Page,
  onMarks: (needed: MarksNeeded) => void = () => {},
  trace?: Trace,
): Promise<WorkspaceChangePage> {
  const read = async (connection: PoolConnection) => {
    const totalCount = await countChanges(connection, workspaceId);
    const walk = await findWalk(connection, workspaceId, page, totalCount, onMarks);
    return { totalCount, changes: walk ? await findPage(connection, workspaceId, walk) : [] };
  };
  return inSnapshot(pool, read, undefined, trace);
}

/** What is to be done for pages to come: marks that are missing are made, those that are not true are deleted. */
export interface MarksNeeded {
  readonly totalCount: number;
  readonly areFalse: boolean;
}

/**
 * A preset has as many changes as its revision says, so presets are gone through, and not their changes: by an index that
 * holds the revision, and would be passed over for the rows themselves.
 */
async function countChanges(executor: Executor, workspaceId: string): Promise<number> {
  const [rows] = await executor.execute<RowDataPacket[]>(
    "SELECT COALESCE(SUM(revision), 0) AS total FROM presets FORCE INDEX (presets_updated) WHERE workspace_id = ?",
    [idToBytes(workspaceId)],
  );
  return Number(rows[0]?.total);
}

interface WorkspaceChangeRow extends ChangeRow {
  readonly preset_id: Buffer;
  readonly slug: string;
  readonly name: string;
}

/** How a page is reached: by stepping over so many changes, from the newest, or from the oldest since a time. */
interface Walk {
  readonly direction: "ASC" | "DESC";
  readonly since: Date | undefined;
  readonly skipped: number;
  readonly count: number;
}

/**
 * A page is found by walking the index from the nearer end; where both are far, from the mark before it, so that every page
 * costs about the same. Undefined where there is nothing on the page.
 */
async function findWalk(
  executor: Executor,
  workspaceId: string,
  { offset, limit }: Page,
  totalCount: number,
  onMarks: (needed: MarksNeeded) => void,
): Promise<Walk | undefined> {
  const count = Math.min(limit, totalCount - offset);
  if (count <= 0) return undefined;
  const behind = totalCount - offset - count;
  const fromEnd: Walk =
    behind < offset
      ? { direction: "ASC", since: undefined, skipped: behind, count }
      : { direction: "DESC", since: undefined, skipped: offset, count };
  if (fromEnd.skipped <= 2 * markSpacing) return fromEnd;
  const mark = await findMark(executor, workspaceId, behind);
  const areFalse = mark !== undefined && !(await agrees(executor, workspaceId, totalCount));
  if (areFalse || behind - (mark?.changes ?? 0) > 2 * markSpacing) onMarks({ totalCount, areFalse });
  if (!mark || areFalse || behind - mark.changes >= fromEnd.skipped) return fromEnd;
  return { direction: "ASC", since: mark.createdAt, skipped: behind - mark.changes, count };
}

/** The walk touches the index alone; rows are read for the page only. */
async function findPage(
  executor: Executor,
  workspaceId: string,
  { direction, since, skipped, count }: Walk,
): Promise<WorkspaceChange[]> {
  const order = (prefix: string, to: string) =>
    `ORDER BY ${prefix}created_at ${to}, ${prefix}preset_id ${to}, ${prefix}revision ${to}`;
  // In this order: the page is small, whatever the server makes of its limit.
  const [rows] = await executor.execute<WorkspaceChangeRow[]>(
    `SELECT STRAIGHT_JOIN p.slug, p.name, c.preset_id, c.revision, c.action, c.user_id, c.key_id, c.fields, c.created_at
      FROM (
        SELECT workspace_id, preset_id, revision FROM preset_changes
          WHERE workspace_id = ? ${since ? "AND created_at >= ?" : ""}
          ${order("", direction)} ${limitClause(count, skipped)}
      ) page
      JOIN preset_changes c
        ON c.workspace_id = page.workspace_id AND c.preset_id = page.preset_id AND c.revision = page.revision
      JOIN presets p ON p.id = c.preset_id AND p.workspace_id = c.workspace_id
      ${order("c.", "DESC")}`,
    [idToBytes(workspaceId), ...(since ? [since] : [])],
  );
  return rows.map((row) => ({
    presetId: idFromBytes(row.preset_id),
    slug: row.slug,
    name: row.name,
    change: changeFromRow(row),
  }));
}
