import { idToBytes } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import type { Caller } from "../../platform/mysql/caller.ts";
import { limitClause } from "../../platform/mysql/limit-clause.ts";
import type { Executor, Pool, PoolConnection } from "../../platform/mysql/pool.ts";
import { selectPage } from "../../platform/mysql/select-page.ts";
import { selectTotal } from "../../platform/mysql/select-total.ts";
import { repeated } from "../../platform/mysql/text-by-count.ts";
import { inSnapshot } from "../../platform/mysql/transaction.ts";
import type { Preset } from "../domain/preset.ts";
import type { PresetFilter } from "../domain/preset-filter.ts";
import { findPresetCount } from "./preset-counts.ts";
import { type PresetRow, presetColumns, presetFromRow } from "./preset-rows.ts";

/** A page, and how many there are in all. */
export interface PresetPage {
  readonly presets: readonly Preset[];
  readonly totalCount: number;
}

/** Up to here a page is read from the front, even if the other end is nearer: it is never far. */
const frontMax = 1_000;

/** Both come from one snapshot, so that the page never contradicts the count. */
export async function listPresets(
  pool: Pool,
  workspaceId: string,
  filter: PresetFilter,
  page: Page,
  caller?: Caller,
): Promise<PresetPage> {
  const where = whereOf(workspaceId, filter);
  const isAtFront = !where.isFiltered && page.offset + page.limit <= frontMax;
  const front = isAtFront ? await findFrontPage(pool.within(caller), where, page) : undefined;
  if (front) return front;
  const read = async (connection: PoolConnection) => {
    const totalCount = await (where.isFiltered
      ? selectTotal(connection, `SELECT COUNT(*) AS total FROM presets WHERE ${where.sql}`, where.values)
      : findPresetCount(connection, workspaceId));
    return { totalCount, presets: await findPage(connection, where, page, totalCount) };
  };
  return inSnapshot(pool, read, caller);
}

interface FrontRow extends PresetRow {
  readonly total_count: string;
}

/**
 * A page with its count: a single statement is a snapshot by itself. Undefined if the page is empty, and so has no row
 * for the count.
 */
async function findFrontPage(executor: Executor, where: Where, page: Page): Promise<PresetPage | undefined> {
  const rows = await selectPage<FrontRow>(
    executor,
    page,
    `SELECT ${presetColumns}, counted.total_count FROM presets p
      JOIN (SELECT workspace_id, slug FROM presets WHERE ${where.sql}
        ORDER BY updated_at DESC, id ASC ${limitClause(page.limit, page.offset)}) page
        ON page.workspace_id = p.workspace_id AND page.slug = p.slug
      JOIN (SELECT SUM(presets) AS total_count FROM preset_counts WHERE workspace_id = ?) counted
      ORDER BY p.updated_at DESC, p.id ASC`,
    [...where.values, ...where.values],
  );
  const [first] = rows;
  return first && { totalCount: Number(first.total_count), presets: rows.map(presetFromRow) };
}

interface Where {
  /** Whether it leaves out any preset of the workspace. If it does not, their number is known without counting. */
  readonly isFiltered: boolean;
  readonly sql: string;
  readonly values: readonly (Buffer | string)[];
}

function whereOf(workspaceId: string, { statuses, text }: PresetFilter): Where {
  const conditions: string[] = [];
  const values: (Buffer | string)[] = [idToBytes(workspaceId)];
  if (statuses.length > 0) {
    conditions.push(`status IN (${repeated(statuses.length, "?")})`);
    values.push(...statuses);
  }
  if (text !== "") {
    // Slugs are ASCII: without the conversion, they could not be compared with a text that is not.
    const slug = "CONVERT(slug USING utf8mb4) COLLATE utf8mb4_bin";
    const contained = [slug, "name", "description"].map((column) => `LOCATE(LOWER(?), LOWER(${column})) > 0`);
    conditions.push(`(${contained.join(" OR ")})`);
    values.push(...contained.map(() => text));
  }
  return { isFiltered: conditions.length > 0, sql: ["workspace_id = ?", ...conditions].join(" AND "), values };
}

/**
 * A page is found by walking the index from the nearer end, so that the last page costs as much as the first. The walk
 * uses only the index; rows are read only for the page.
 */
async function findPage(executor: Executor, where: Where, page: Page, totalCount: number): Promise<Preset[]> {
  const { offset, limit } = page;
  const count = Math.min(limit, totalCount - offset);
  if (count <= 0) return [];
  const behind = totalCount - offset - count;
  // From the front, with the limit as requested, so that the first page is always the same statement, however many
  // presets there are.
  const [order, rowLimit] =
    behind < offset
      ? ["updated_at ASC, id DESC", limitClause(count, behind)]
      : ["updated_at DESC, id ASC", limitClause(limit, offset)];
  const rows = await selectPage<PresetRow>(
    executor,
    page,
    `SELECT ${presetColumns} FROM presets p
      JOIN (SELECT workspace_id, slug FROM presets WHERE ${where.sql} ORDER BY ${order} ${rowLimit}) page
        ON page.workspace_id = p.workspace_id AND page.slug = p.slug
      ORDER BY p.updated_at DESC, p.id ASC`,
    where.values,
  );
  return rows.map(presetFromRow);
}
