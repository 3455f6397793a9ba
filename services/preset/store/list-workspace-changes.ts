import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import { limitClause } from "../../platform/mysql/limit-clause.ts";
import type { Executor, Pool, RowDataPacket } from "../../platform/mysql/pool.ts";
import { inSnapshot } from "../../platform/mysql/transaction.ts";
import type { WorkspaceChange } from "../domain/change.ts";
import { type ChangeRow, changeFromRow } from "./list-changes.ts";

/** A page, and how many changes there are in all. */
export interface WorkspaceChangePage {
  readonly changes: readonly WorkspaceChange[];
  readonly totalCount: number;
}

/** Newest first. Both come from one snapshot, so that the page never contradicts the count. */
export function listWorkspaceChanges(pool: Pool, workspaceId: string, page: Page): Promise<WorkspaceChangePage> {
  return inSnapshot(pool, async (connection) => {
    const totalCount = await countChanges(connection, workspaceId);
    return { totalCount, changes: await findPage(connection, workspaceId, page, totalCount) };
  });
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

/**
 * A page is found by walking the index from the nearer end. The walk touches the index alone; rows are read for the page
 * only.
 */
async function findPage(
  executor: Executor,
  workspaceId: string,
  { offset, limit }: Page,
  totalCount: number,
): Promise<WorkspaceChange[]> {
  const count = Math.min(limit, totalCount - offset);
  if (count <= 0) return [];
  const behind = totalCount - offset - count;
  const [direction, rowLimit] =
    behind < offset ? ["ASC", limitClause(count, behind)] : ["DESC", limitClause(limit, offset)];
  const order = (prefix: string, to: string) =>
    `ORDER BY ${prefix}created_at ${to}, ${prefix}preset_id ${to}, ${prefix}revision ${to}`;
  // In this order: the page is small, whatever the server makes of its limit.
  const [rows] = await executor.execute<WorkspaceChangeRow[]>(
    `SELECT STRAIGHT_JOIN p.slug, p.name, c.preset_id, c.revision, c.action, c.user_id, c.key_id, c.fields, c.created_at
      FROM (
        SELECT workspace_id, preset_id, revision FROM preset_changes WHERE workspace_id = ?
          ${order("", direction)} ${rowLimit}
      ) page
      JOIN preset_changes c
        ON c.workspace_id = page.workspace_id AND c.preset_id = page.preset_id AND c.revision = page.revision
      JOIN presets p ON p.id = c.preset_id AND p.workspace_id = c.workspace_id
      ${order("c.", "DESC")}`,
    [idToBytes(workspaceId)],
  );
  return rows.map((row) => ({
    presetId: idFromBytes(row.preset_id),
    slug: row.slug,
    name: row.name,
    change: changeFromRow(row),
  }));
}
