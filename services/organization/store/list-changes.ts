import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import { limitClause } from "../../platform/mysql/limit-clause.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import { selectPage } from "../../platform/mysql/select-page.ts";
import { selectTotal } from "../../platform/mysql/select-total.ts";
import type { ChangeAction, ChangeFilter, LoggedChange, TargetKind } from "../domain/changes.ts";
import { conditionOf, countChanges, numberColumnOf } from "./changes.ts";

interface ChangePage {
  readonly changes: readonly LoggedChange[];
  readonly totalCount: number;
}

interface ChangeRow extends RowDataPacket {
  readonly id: Buffer;
  readonly action: ChangeAction;
  readonly user_id: string | null;
  readonly key_id: Buffer | null;
  readonly target_kind: TargetKind;
  readonly target_id: string;
  readonly target_name: string;
  readonly fields: string;
  readonly created_at: Date;
}

const columns = "id, action, user_id, key_id, target_kind, target_id, target_name, fields, created_at";

/** Newest first. To be run in a snapshot, so that the two statements agree. */
export function listChanges(
  executor: Executor,
  organizationId: string,
  { action, userId, targetId }: ChangeFilter,
  page: Page,
): Promise<ChangePage> {
  const group = { action, user_id: userId };
  return targetId === undefined
    ? listNumbered(executor, organizationId, group, page)
    : listCounted(executor, organizationId, { ...group, target_id: targetId }, page);
}

/** A page is a range of numbers, so every page costs the same, however long the log is. */
async function listNumbered(
  executor: Executor,
  organizationId: string,
  group: object,
  { offset, limit }: Page,
): Promise<ChangePage> {
  const totalCount = await countChanges(executor, organizationId, group);
  const number = numberColumnOf(group);
  const { sql, values } = conditionOf(organizationId, group);
  const newest = totalCount - offset;
  const [rows] = await executor.execute<ChangeRow[]>(
    `SELECT ${columns} FROM organization_changes WHERE ${sql} AND ${number} BETWEEN ? AND ? ORDER BY ${number} DESC`,
    [...values, newest - limit + 1, newest],
  );
  return { changes: rows.map(changeFromRow), totalCount };
}

/**
 * Changes to one target are counted and walked through in their index, from the nearer end. Rows are read only for the
 * page. The index is forced, because servers would otherwise also choose that of a user or an action, and walk through
 * everything else in it.
 */
async function listCounted(executor: Executor, organizationId: string, group: object, page: Page): Promise<ChangePage> {
  const { offset, limit } = page;
  const { sql, values } = conditionOf(organizationId, group);
  const found = `FROM organization_changes FORCE INDEX (organization_changes_of_target) WHERE ${sql}`;
  const totalCount = await selectTotal(executor, `SELECT COUNT(*) AS total ${found}`, values);
  const count = Math.min(limit, totalCount - offset);
  if (count <= 0) return { changes: [], totalCount };
  const behind = totalCount - offset - count;
  const walk = behind < offset ? `ASC ${limitClause(count, behind)}` : `DESC ${limitClause(limit, offset)}`;
  const rows = await selectPage<ChangeRow>(
    executor,
    page,
    `SELECT ${columns} FROM organization_changes
      JOIN (SELECT number AS page_number ${found} ORDER BY number ${walk}) page ON number = page_number
      WHERE organization_id = ? ORDER BY number DESC`,
    [...values, idToBytes(organizationId)],
  );
  return { changes: rows.map(changeFromRow), totalCount };
}

function changeFromRow(row: ChangeRow): LoggedChange {
  return {
    id: idFromBytes(row.id),
    action: row.action,
    actor: { userId: row.user_id ?? undefined, keyId: row.key_id ? idFromBytes(row.key_id) : undefined },
    target: { kind: row.target_kind, id: row.target_id, name: row.target_name },
    fields: JSON.parse(row.fields),
    createdAt: row.created_at,
  };
}
