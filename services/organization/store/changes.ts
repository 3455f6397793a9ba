import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import type { ChangeAction, ChangeFilter, LoggedChange, TargetKind } from "../domain/changes.ts";

interface ChangePage {
  readonly changes: readonly LoggedChange[];
  readonly totalCount: number;
}

interface ChangeRow extends RowDataPacket {
  readonly total_count: number;
  /** Null in the one row of an empty page. */
  readonly id: Buffer | null;
  readonly action: ChangeAction;
  readonly user_id: string | null;
  readonly key_id: Buffer | null;
  readonly target_kind: TargetKind;
  readonly target_id: string;
  readonly target_name: string;
  readonly fields: string;
  readonly created_at: Date;
}

const columns = `c.id, c.action, c.user_id, c.key_id, c.target_kind, c.target_id, c.target_name, c.fields, c.created_at`;

/** Appends to the change log, within the transaction of the changes themselves, which has locked the organization. */
export async function insertChanges(
  executor: Executor,
  organizationId: string,
  changes: readonly LoggedChange[],
): Promise<void> {
  const organization = idToBytes(organizationId);
  const [rows] = await executor.execute<RowDataPacket[]>("SELECT change_count FROM organizations WHERE id = ?", [
    organization,
  ]);
  const before: number = rows[0]?.change_count;
  await executor.execute(
    `INSERT INTO organization_changes (organization_id, number, id, action, user_id, key_id, target_kind, target_id,
      target_name, fields, created_at) VALUES ${Array(changes.length).fill("(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").join(", ")}`,
    changes.flatMap(({ id, action, actor, target, fields, createdAt }, index) => [
      organization,
      before + index + 1,
      idToBytes(id),
      action,
      actor.userId ?? null,
      actor.keyId === undefined ? null : idToBytes(actor.keyId),
      target.kind,
      target.id,
      target.name,
      JSON.stringify(fields),
      createdAt,
    ]),
  );
  await executor.execute("UPDATE organizations SET change_count = ? WHERE id = ?", [
    before + changes.length,
    organization,
  ]);
}

export async function hasChange(executor: Executor, id: string): Promise<boolean> {
  const [rows] = await executor.execute<RowDataPacket[]>("SELECT 1 FROM organization_changes WHERE id = ?", [
    idToBytes(id),
  ]);
  return rows.length > 0;
}

/** Newest first. Without a filter a page is a range of numbers, so every page costs the same. */
export async function listChanges(
  executor: Executor,
  organizationId: string,
  filter: ChangeFilter,
  page: Page,
): Promise<ChangePage> {
  const conditions = Object.entries({
    action: filter.action,
    user_id: filter.userId,
    target_id: filter.targetId,
  }).filter((condition): condition is [string, string] => condition[1] !== undefined);
  const [rows] =
    conditions.length === 0
      ? await selectRange(executor, organizationId, page)
      : await selectFiltered(executor, organizationId, conditions, page);
  return { changes: rows.flatMap(changeFromRow), totalCount: rows[0]?.total_count ?? 0 };
}

function selectRange(executor: Executor, organizationId: string, { offset, limit }: Page) {
  return executor.execute<ChangeRow[]>(
    `SELECT o.change_count AS total_count, ${columns} FROM organizations o
      LEFT JOIN organization_changes c ON c.organization_id = o.id
        AND c.number BETWEEN o.change_count - ? AND o.change_count - ?
      WHERE o.id = ? ORDER BY c.number DESC`,
    [offset + limit - 1, offset, idToBytes(organizationId)],
  );
}

/** Counts and skips in an index that holds the filter; only the rows of the page are read whole. */
function selectFiltered(
  executor: Executor,
  organizationId: string,
  conditions: readonly [string, string][],
  { offset, limit }: Page,
) {
  const where = ["organization_id = ?", ...conditions.map(([column]) => `${column} = ?`)].join(" AND ");
  const values = [idToBytes(organizationId), ...conditions.map(([, value]) => value)];
  return executor.execute<ChangeRow[]>(
    `SELECT t.total_count, ${columns} FROM (SELECT COUNT(*) AS total_count FROM organization_changes WHERE ${where}) t
      LEFT JOIN (
        SELECT organization_id, number FROM organization_changes WHERE ${where}
        ORDER BY number DESC LIMIT ${limit} OFFSET ${offset}
      ) n ON TRUE
      LEFT JOIN organization_changes c ON c.organization_id = n.organization_id AND c.number = n.number
      ORDER BY c.number DESC`,
    [...values, ...values],
  );
}

function changeFromRow(row: ChangeRow): LoggedChange[] {
  if (row.id === null) return [];
  return [
    {
      id: idFromBytes(row.id),
      action: row.action,
      actor: { userId: row.user_id ?? undefined, keyId: row.key_id ? idFromBytes(row.key_id) : undefined },
      target: { kind: row.target_kind, id: row.target_id, name: row.target_name },
      fields: JSON.parse(row.fields),
      createdAt: row.created_at,
    },
  ];
}
