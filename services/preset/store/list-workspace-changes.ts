import { idFromBytes } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import type { Caller } from "../../platform/mysql/caller.ts";
import { limitClause } from "../../platform/mysql/limit-clause.ts";
import type { Executor, Pool, PoolConnection } from "../../platform/mysql/pool.ts";
import { selectPage } from "../../platform/mysql/select-page.ts";
import { inSnapshot } from "../../platform/mysql/transaction.ts";
import type { ChangeFilter, WorkspaceChange } from "../domain/change.ts";
import { countSince, findMark, markSpacing, sumRevisions } from "./change-marks.ts";
import { type ChangeRow, changeFromRow } from "./list-changes.ts";
import { type IndexedChanges, indexedChanges } from "./workspace-change-index.ts";

/** A page, and how many changes there are in all. */
export interface WorkspaceChangePage {
  readonly changes: readonly WorkspaceChange[];
  readonly totalCount: number;
  /** Whether marks were used, and whether more of them would make later pages cheaper. */
  readonly marks: { readonly areUsed: boolean; readonly areWanted: boolean };
}

/** Newest first. Page and count come from one snapshot, so that the page never contradicts the count. */
export function listWorkspaceChanges(
  pool: Pool,
  workspaceId: string,
  filter: ChangeFilter,
  page: Page,
  caller?: Caller,
): Promise<WorkspaceChangePage> {
  const indexed = indexedChanges(workspaceId, filter);
  const read = async (connection: PoolConnection): Promise<WorkspaceChangePage> => {
    const last = await findMark(connection, workspaceId, filter);
    const later = await countLater(connection, workspaceId, filter, last?.createdAt);
    const totalCount = (last?.changes ?? 0) + later;
    const walk = await findWalk(connection, workspaceId, filter, page, totalCount);
    return {
      totalCount,
      changes: walk ? await findPage(connection, indexed, walk) : [],
      marks: { areUsed: last !== undefined, areWanted: later > 2 * markSpacing },
    };
  };
  return inSnapshot(pool, read, caller);
}

/** How many changes there are since the last mark. */
function countLater(
  executor: Executor,
  workspaceId: string,
  filter: ChangeFilter,
  since: Date | undefined,
): Promise<number> {
  // There are fewer presets than changes.
  const isOfAll = !since && !filter.action && !filter.userId;
  if (isOfAll) return sumRevisions(executor, workspaceId);
  return countSince(executor, indexedChanges(workspaceId, filter), since ?? new Date(0));
}

interface WorkspaceChangeRow extends ChangeRow {
  readonly preset_id: Buffer;
  readonly slug: string;
  readonly name: string;
}

/** How to reach a page: by skipping so many changes, from the newest, or from the oldest since a time. */
interface Walk {
  readonly direction: "ASC" | "DESC";
  readonly since: Date | undefined;
  readonly skipped: number;
  readonly count: number;
}

/**
 * A page is found by walking the index from the nearer end or, if both are far, from the mark before it, so that every
 * page costs about the same. Undefined if the page is empty.
 */
async function findWalk(
  executor: Executor,
  workspaceId: string,
  filter: ChangeFilter,
  { offset, limit }: Page,
  totalCount: number,
): Promise<Walk | undefined> {
  const count = Math.min(limit, totalCount - offset);
  if (count <= 0) return undefined;
  const behind = totalCount - offset - count;
  const fromEnd: Walk =
    behind < offset
      ? { direction: "ASC", since: undefined, skipped: behind, count }
      : { direction: "DESC", since: undefined, skipped: offset, count };
  if (fromEnd.skipped <= markSpacing) return fromEnd;
  const mark = await findMark(executor, workspaceId, filter, behind);
  if (!mark || behind - mark.changes >= fromEnd.skipped) return fromEnd;
  return { direction: "ASC", since: mark.createdAt, skipped: behind - mark.changes, count };
}

/** The walk uses only the index; rows are read only for the page. */
async function findPage(
  executor: Executor,
  { from, where, values }: IndexedChanges,
  { direction, since, skipped, count }: Walk,
): Promise<WorkspaceChange[]> {
  const order = (prefix: string, to: string) =>
    `ORDER BY ${prefix}created_at ${to}, ${prefix}preset_id ${to}, ${prefix}revision ${to}`;
  // STRAIGHT_JOIN, because the page is small and must come first, whatever the optimizer makes of its LIMIT.
  const rows = await selectPage<WorkspaceChangeRow>(
    executor,
    { offset: since ? 1 : skipped },
    `SELECT STRAIGHT_JOIN p.slug, p.name, c.preset_id, c.revision, c.action, c.user_id, c.key_id, c.fields, c.created_at
      FROM (
        SELECT workspace_id, preset_id, revision FROM ${from}
          WHERE ${where} ${since ? "AND created_at >= ?" : ""}
          ${order("", direction)} ${limitClause(count, skipped)}
      ) page
      JOIN preset_changes c
        ON c.workspace_id = page.workspace_id AND c.preset_id = page.preset_id AND c.revision = page.revision
      JOIN presets p ON p.id = c.preset_id AND p.workspace_id = c.workspace_id
      ${order("c.", "DESC")}`,
    [...values, ...(since ? [since] : [])],
  );
  return rows.map((row) => ({
    presetId: idFromBytes(row.preset_id),
    slug: row.slug,
    name: row.name,
    change: changeFromRow(row),
  }));
}
