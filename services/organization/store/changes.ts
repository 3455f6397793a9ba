import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import { rowChunks } from "../../platform/mysql/row-chunks.ts";
import { repeated } from "../../platform/mysql/text-by-count.ts";
import type { LoggedChange } from "../domain/changes.ts";

/** Which rows of the log are numbered together; a column that is absent: all. */
interface ChangeGroup {
  readonly action?: string | undefined;
  readonly user_id?: string | undefined;
}

type NumberColumn = "number" | "action_number" | "user_number" | "user_action_number";

/** The column that numbers the rows of a group. */
export function numberColumnOf({ action, user_id }: ChangeGroup): NumberColumn {
  if (action === undefined) return user_id === undefined ? "number" : "user_number";
  return user_id === undefined ? "action_number" : "user_action_number";
}

/** The condition that holds for the rows of a group, and its values. */
export function conditionOf(organizationId: string, group: object) {
  const given = Object.entries(group).filter(([, value]) => value !== undefined);
  return {
    sql: ["organization_id = ?", ...given.map(([column]) => `${column} = ?`)].join(" AND "),
    values: [idToBytes(organizationId), ...given.map(([, value]) => value as string)],
  };
}

/** How many rows a group has: the last number, which is the last entry of an index. */
export async function countChanges(executor: Executor, organizationId: string, group: ChangeGroup): Promise<number> {
  const { sql, values } = conditionOf(organizationId, group);
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT MAX(${numberColumnOf(group)}) AS last FROM organization_changes WHERE ${sql}`,
    values,
  );
  return rows[0]?.last ?? 0;
}

/**
 * Appends to the change log, in the transaction of the changes, which has locked the organization and counted `last`
 * entries before it read anything that the changes depend on. The lock holds on only one node of a cluster: if a change
 * came through another since then, its entry has our number, and we get a duplicate key.
 */
export async function insertChanges(
  executor: Executor,
  organizationId: string,
  last: number,
  changes: readonly LoggedChange[],
): Promise<void> {
  const numberOf = numbering(executor, organizationId, last);
  for (const chunk of rowChunks(changes)) await insertChunk(executor, organizationId, numberOf, chunk);
}

async function insertChunk(
  executor: Executor,
  organizationId: string,
  numberOf: NumberOf,
  changes: readonly LoggedChange[],
): Promise<void> {
  const values = [];
  for (const { id, action, actor, target, fields, createdAt } of changes) {
    const user_id = actor.userId;
    values.push(
      idToBytes(organizationId),
      await numberOf({}),
      await numberOf({ action }),
      user_id === undefined ? null : await numberOf({ user_id }),
      user_id === undefined ? null : await numberOf({ user_id, action }),
      idToBytes(id),
      action,
      user_id ?? null,
      actor.keyId === undefined ? null : idToBytes(actor.keyId),
      target.kind,
      target.id,
      target.name,
      JSON.stringify(fields),
      createdAt,
    );
  }
  const row = `(${repeated(14, "?")})`;
  await executor.execute(
    `INSERT INTO organization_changes (organization_id, number, action_number, user_number, user_action_number, id, action,
      user_id, key_id, target_kind, target_id, target_name, fields, created_at) VALUES ${repeated(changes.length, row)}`,
    values,
  );
}

/** Assigns the next number of a group. */
type NumberOf = (group: ChangeGroup) => Promise<number>;

/** The stored number is read once for each group; that of all entries is known. */
function numbering(executor: Executor, organizationId: string, lastOfAll: number): NumberOf {
  const last = new Map([[JSON.stringify({}), lastOfAll]]);
  return async (group) => {
    const key = JSON.stringify(group);
    const next = (last.get(key) ?? (await countChanges(executor, organizationId, group))) + 1;
    last.set(key, next);
    return next;
  };
}

/** The one of these ids that has a change log entry. */
export async function findLoggedId(executor: Executor, ids: readonly string[]): Promise<string | undefined> {
  if (ids.length === 0) return undefined;
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT id FROM organization_changes WHERE id IN (${repeated(ids.length, "?")})`,
    ids.map(idToBytes),
  );
  return rows[0] && idFromBytes(rows[0].id);
}
