import { idToBytes } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import { limitClause } from "../../platform/mysql/limit-clause.ts";
import type { Executor } from "../../platform/mysql/pool.ts";
import { selectPage } from "../../platform/mysql/select-page.ts";
import { selectTotal } from "../../platform/mysql/select-total.ts";
import { repeated } from "../../platform/mysql/text-by-count.ts";
import type { Key } from "../domain/keys.ts";
import { type KeyRow, keyColumns, keyFromRow } from "./key-rows.ts";

/** All keys of an organization, revoked ones too, oldest first. */
export async function listKeys(executor: Executor, organizationId: string): Promise<Key[]> {
  const [rows] = await executor.execute<KeyRow[]>(
    `SELECT ${keyColumns} FROM api_keys k WHERE k.organization_id = ? ORDER BY k.created_at, k.id`,
    [idToBytes(organizationId)],
  );
  return rows.map(keyFromRow);
}

/** Which keys of an organization; a field that is absent: all. */
interface KeyFilter {
  /** Keys of no workspace. */
  readonly kind?: "management";
  readonly workspaceId?: string;
  readonly creatorUserIds?: readonly string[];
}

/** Keys that were neither revoked nor disabled, oldest first. The caller checks whether they have expired. */
export async function listEnabledKeys(executor: Executor, organizationId: string, filter: KeyFilter): Promise<Key[]> {
  const { kind, workspaceId, creatorUserIds } = filter;
  const [rows] = await executor.execute<KeyRow[]>(
    `SELECT ${keyColumns} FROM api_keys k
      WHERE k.organization_id = ? AND k.revoked_at IS NULL AND k.disabled = FALSE
        ${kind === "management" ? "AND k.workspace_id IS NULL" : ""} ${workspaceId === undefined ? "" : "AND k.workspace_id = ?"}
        ${creatorUserIds === undefined ? "" : `AND k.creator_user_id IN (${repeated(creatorUserIds.length, "?")})`}
      ORDER BY k.created_at, k.id`,
    [
      idToBytes(organizationId),
      ...(workspaceId === undefined ? [] : [idToBytes(workspaceId)]),
      ...(creatorUserIds ?? []),
    ],
  );
  return rows.map(keyFromRow);
}

interface KeyList {
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Management keys belong to no workspace; they are listed with those of the default one. */
  readonly withManagementKeys: boolean;
  readonly withDisabled: boolean;
}

/** A page of the keys of a workspace, newest first. To be run in a snapshot, so that the two statements agree. */
export async function listWorkspaceKeys(
  executor: Executor,
  list: KeyList,
  page: Page,
): Promise<{ readonly keys: readonly Key[]; readonly totalCount: number }> {
  const { offset, limit } = page;
  const organizationId = idToBytes(list.organizationId);
  const keysWhere = (workspace: string) =>
    `FROM api_keys FORCE INDEX (api_keys_workspace) WHERE organization_id = ? AND workspace_id ${workspace} AND revoked_at IS NULL
      ${list.withDisabled ? "" : "AND disabled = FALSE"}`;
  // Each part is in index order; with an OR, all keys would be sorted for a page.
  const parts = [keysWhere("= ?"), ...(list.withManagementKeys ? [keysWhere("IS NULL")] : [])];
  const values = [organizationId, idToBytes(list.workspaceId), ...(list.withManagementKeys ? [organizationId] : [])];
  const counts = parts.map((part) => `(SELECT COUNT(*) ${part})`);
  const totalCount = await selectTotal(executor, `SELECT ${counts.join(" + ")} AS total`, values);
  const order = (prefix = "") => `ORDER BY ${prefix}created_at DESC, ${prefix}id DESC`;
  const firstOf = (part: string) => `(SELECT id, created_at ${part} ${order()} ${limitClause(offset + limit, 0)})`;
  const rows = await selectPage<KeyRow>(
    executor,
    page,
    `SELECT ${keyColumns} FROM api_keys k
      JOIN (${parts.map(firstOf).join(" UNION ALL ")} ${order()} ${limitClause(limit, offset)}) page ON page.id = k.id
      ${order("k.")}`,
    values,
  );
  return { keys: rows.map(keyFromRow), totalCount };
}
