import type { KeyKind, Permission } from "../../platform/auth/principal.ts";
import { idFromBytes, idToBytes, isId } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import { isDuplicateKey } from "../../platform/mysql/errors.ts";
import { limitClause } from "../../platform/mysql/limit-clause.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import { rowChunks } from "../../platform/mysql/row-chunks.ts";
import { keyAlreadyMade } from "../domain/errors.ts";
import type { Key } from "../domain/keys.ts";

export const keyColumns = `k.id, k.key_hash, k.label, k.name, k.kind, k.permissions, k.organization_id, k.workspace_id,
  k.creator_user_id, k.disabled, k.created_at, k.updated_at, k.expires_at, k.previous_expires_at, k.revoked_at, k.last_used_at,
  k.rate_limit, k.rate_burst`;

export interface KeyRow extends RowDataPacket {
  readonly id: Buffer;
  readonly key_hash: Buffer;
  readonly label: string | null;
  readonly name: string;
  readonly kind: KeyKind;
  readonly permissions: string;
  readonly organization_id: Buffer;
  readonly workspace_id: Buffer | null;
  readonly creator_user_id: string;
  readonly disabled: number;
  readonly created_at: Date;
  readonly updated_at: Date | null;
  readonly expires_at: Date | null;
  readonly previous_expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
  readonly rate_limit: number | null;
  readonly rate_burst: number | null;
}

/** Revoked or not, of whatever organization. */
export async function findKeyById(executor: Executor, id: string): Promise<Key | undefined> {
  const [rows] = await executor.execute<KeyRow[]>(`SELECT ${keyColumns} FROM api_keys k WHERE k.id = ?`, [
    idToBytes(id),
  ]);
  return rows[0] && keyFromRow(rows[0]);
}

const hashPattern = /^[0-9a-f]{64}$/i;

/** Whether a text can be what keys are found by. */
export function namesKey(text: string): boolean {
  return isId(text) || hashPattern.test(text);
}

/** The key with this hash or id, revoked or not, of whatever organization. */
export async function findKeyAnywhere(executor: Executor, name: string): Promise<Key | undefined> {
  const [rows] = await executor.execute<KeyRow[]>(
    `SELECT ${keyColumns} FROM api_keys k WHERE ${isId(name) ? "k.id" : "k.key_hash"} = ?`,
    [isId(name) ? idToBytes(name) : Buffer.from(name, "hex")],
  );
  return rows[0] && keyFromRow(rows[0]);
}

/** The key of the organization with this hash or id. A revoked one is gone. */
export async function findKey(executor: Executor, organizationId: string, name: string): Promise<Key | undefined> {
  if (!namesKey(name)) return undefined;
  const [rows] = await executor.execute<KeyRow[]>(
    `SELECT ${keyColumns} FROM api_keys k
      WHERE ${isId(name) ? "k.id" : "k.key_hash"} = ? AND k.organization_id = ? AND k.revoked_at IS NULL`,
    [isId(name) ? idToBytes(name) : Buffer.from(name, "hex"), idToBytes(organizationId)],
  );
  return rows[0] && keyFromRow(rows[0]);
}

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
  /** Those of no workspace. */
  readonly kind?: "management";
  readonly workspaceId?: string;
  readonly creatorUserIds?: readonly string[];
}

/** Keys that were neither revoked nor disabled, oldest first. Whether they have expired, the caller sees. */
export async function listEnabledKeys(executor: Executor, organizationId: string, filter: KeyFilter): Promise<Key[]> {
  const { kind, workspaceId, creatorUserIds } = filter;
  const [rows] = await executor.execute<KeyRow[]>(
    `SELECT ${keyColumns} FROM api_keys k
      WHERE k.organization_id = ? AND k.revoked_at IS NULL AND k.disabled = FALSE
        ${kind === "management" ? "AND k.workspace_id IS NULL" : ""} ${workspaceId === undefined ? "" : "AND k.workspace_id = ?"}
        ${creatorUserIds === undefined ? "" : `AND k.creator_user_id IN (${creatorUserIds.map(() => "?").join(", ")})`}
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

/** A page of the keys of a workspace, newest first. The two statements agree where they see one moment. */
export async function listWorkspaceKeys(
  executor: Executor,
  list: KeyList,
  { offset, limit }: Page,
): Promise<{ readonly keys: readonly Key[]; readonly totalCount: number }> {
  const organizationId = idToBytes(list.organizationId);
  const keysWhere = (workspace: string) =>
    `FROM api_keys FORCE INDEX (api_keys_workspace) WHERE organization_id = ? AND workspace_id ${workspace} AND revoked_at IS NULL
      ${list.withDisabled ? "" : "AND disabled = FALSE"}`;
  // Each part is in the order of the index; with an OR, all keys would be sorted for a page.
  const parts = [keysWhere("= ?"), ...(list.withManagementKeys ? [keysWhere("IS NULL")] : [])];
  const values = [organizationId, idToBytes(list.workspaceId), ...(list.withManagementKeys ? [organizationId] : [])];
  const [counts] = await executor.execute<RowDataPacket[]>(
    `SELECT ${parts.map((part) => `(SELECT COUNT(*) ${part})`).join(" + ")} AS total`,
    values,
  );
  const order = (prefix = "") => `ORDER BY ${prefix}created_at DESC, ${prefix}id DESC`;
  const firstOf = (part: string) => `(SELECT id, created_at ${part} ${order()} ${limitClause(offset + limit, 0)})`;
  const [rows] = await executor.execute<KeyRow[]>(
    `SELECT ${keyColumns} FROM api_keys k
      JOIN (${parts.map(firstOf).join(" UNION ALL ")} ${order()} ${limitClause(limit, offset)}) page ON page.id = k.id
      ${order("k.")}`,
    values,
  );
  return { keys: rows.map(keyFromRow), totalCount: counts[0]?.total };
}

export async function insertKey(executor: Executor, key: Key): Promise<void> {
  const inserted = executor.execute(
    `INSERT INTO api_keys (id, key_hash, label, name, kind, permissions, organization_id, workspace_id, creator_user_id,
      disabled, created_at, expires_at, revoked_at, last_used_at, rate_limit, rate_burst)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      idToBytes(key.id),
      Buffer.from(key.hash, "hex"),
      key.label,
      key.name,
      key.kind,
      key.permissions.join(","),
      idToBytes(key.organizationId),
      key.workspaceId === undefined ? null : idToBytes(key.workspaceId),
      key.creatorUserId,
      key.disabled,
      key.createdAt,
      key.expiresAt ?? null,
      key.revokedAt ?? null,
      key.lastUsedAt ?? null,
      key.rateLimit?.perSecond ?? null,
      key.rateLimit?.burst ?? null,
    ],
  );
  await unlessTaken(key.hash, inserted);
}

/** A secret comes up twice only where its seed does, long after the request that it was first used for. */
async function unlessTaken(hash: string, stored: Promise<unknown>): Promise<void> {
  try {
    await stored;
  } catch (error) {
    throw isDuplicateKey(error) ? keyAlreadyMade(hash) : error;
  }
}

/** Writes what can be changed of a key beside its secret. */
export async function updateKey(executor: Executor, key: Key): Promise<void> {
  await executor.execute(
    `UPDATE api_keys SET name = ?, permissions = ?, disabled = ?, expires_at = ?, revoked_at = ?, updated_at = ?
      WHERE id = ?`,
    [
      key.name,
      key.permissions.join(","),
      key.disabled,
      key.expiresAt ?? null,
      key.revokedAt ?? null,
      key.updatedAt ?? null,
      idToBytes(key.id),
    ],
  );
}

export async function updateKeysDisabled(executor: Executor, keys: readonly Key[], now: Date): Promise<void> {
  for (const chunk of rowChunks(keys)) {
    await executor.execute(
      `UPDATE api_keys SET disabled = TRUE, updated_at = ? WHERE id IN (${chunk.map(() => "?").join(", ")})`,
      [now, ...chunk.map(({ id }) => idToBytes(id))],
    );
  }
}

/** The secret that a key has until now becomes its previous one where the key has a grace, and is forgotten otherwise. */
export async function updateKeySecret(executor: Executor, before: Key, after: Key): Promise<void> {
  const updated = executor.execute(
    `UPDATE api_keys SET key_hash = ?, label = ?, previous_key_hash = ?, previous_expires_at = ?, updated_at = ?
      WHERE id = ?`,
    [
      Buffer.from(after.hash, "hex"),
      after.label,
      after.previousExpiresAt ? Buffer.from(before.hash, "hex") : null,
      after.previousExpiresAt ?? null,
      after.updatedAt ?? null,
      idToBytes(after.id),
    ],
  );
  await unlessTaken(after.hash, updated);
}

/** Writes nothing for keys that were used since `unlessSince`. */
export async function updateKeysLastUsed(
  executor: Executor,
  ids: readonly string[],
  usedAt: Date,
  unlessSince: Date,
): Promise<void> {
  await executor.execute(
    `UPDATE api_keys SET last_used_at = ?
      WHERE id IN (${ids.map(() => "?").join(", ")}) AND (last_used_at IS NULL OR last_used_at < ?)`,
    [usedAt, ...ids.map(idToBytes), unlessSince],
  );
}

/** Of a key whose secret was made before labels were kept. */
const unknownLabel = "sk-sp-v1-…";

export function keyFromRow(row: KeyRow): Key {
  return {
    id: idFromBytes(row.id),
    hash: row.key_hash.toString("hex"),
    label: row.label ?? unknownLabel,
    name: row.name,
    kind: row.kind,
    permissions: row.permissions.split(",").filter(Boolean) as Permission[],
    organizationId: idFromBytes(row.organization_id),
    workspaceId: row.workspace_id ? idFromBytes(row.workspace_id) : undefined,
    creatorUserId: row.creator_user_id,
    disabled: row.disabled !== 0,
    createdAt: row.created_at,
    updatedAt: row.updated_at ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    previousExpiresAt: row.previous_expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    rateLimit:
      row.rate_limit === null ? undefined : { perSecond: row.rate_limit, burst: row.rate_burst ?? row.rate_limit },
  };
}
