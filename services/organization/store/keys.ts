import type { KeyKind, Permission } from "../../platform/auth/principal.ts";
import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import type { Key, KeyScope, NewKey } from "../domain/keys.ts";

const keyColumns = `k.id, k.name, k.kind, k.permissions, k.organization_id, k.workspace_id, k.creator_user_id, k.disabled,
  k.created_at, k.expires_at, k.revoked_at, k.last_used_at, k.rate_limit, k.rate_burst`;

interface KeyRow extends RowDataPacket {
  readonly id: Buffer;
  readonly name: string;
  readonly kind: KeyKind;
  readonly permissions: string;
  readonly organization_id: Buffer;
  readonly workspace_id: Buffer | null;
  readonly creator_user_id: string;
  readonly disabled: number;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
  readonly rate_limit: number | null;
  readonly rate_burst: number | null;
}

interface ReachRow extends KeyRow {
  readonly reached_organization_id: Buffer | null;
  readonly reached_workspace_id: Buffer | null;
}

/** The key with this hash and what it reaches now; every table is read by one unique key. */
export async function findKeyScope(
  executor: Executor,
  keyHash: Buffer,
  requestedWorkspaceId: string | undefined,
): Promise<KeyScope | undefined> {
  const [rows] = await executor.execute<ReachRow[]>(
    `SELECT ${keyColumns}, o.id AS reached_organization_id, w.id AS reached_workspace_id
      FROM api_keys k
      LEFT JOIN organizations o ON o.id = k.organization_id AND o.deleted_at IS NULL
      LEFT JOIN workspaces w ON w.id = COALESCE(k.workspace_id, CAST(? AS BINARY(16)), o.default_workspace_id)
        AND w.organization_id = o.id AND w.deleted_at IS NULL
      WHERE k.key_hash = ?`,
    [requestedWorkspaceId === undefined ? null : idToBytes(requestedWorkspaceId), keyHash],
  );
  const [row] = rows;
  return (
    row && {
      key: keyFromRow(row),
      organizationId: row.reached_organization_id ? idFromBytes(row.reached_organization_id) : undefined,
      workspaceId: row.reached_workspace_id ? idFromBytes(row.reached_workspace_id) : undefined,
    }
  );
}

export async function findKey(executor: Executor, id: string): Promise<Key | undefined> {
  const [rows] = await executor.execute<KeyRow[]>(`SELECT ${keyColumns} FROM api_keys k WHERE k.id = ?`, [
    idToBytes(id),
  ]);
  return rows[0] && keyFromRow(rows[0]);
}

/** All keys of an organization, oldest first. */
export async function listKeys(executor: Executor, organizationId: string): Promise<Key[]> {
  const [rows] = await executor.execute<KeyRow[]>(
    `SELECT ${keyColumns} FROM api_keys k WHERE k.organization_id = ? ORDER BY k.created_at, k.id`,
    [idToBytes(organizationId)],
  );
  return rows.map(keyFromRow);
}

export async function insertKey(executor: Executor, { key, keyHash }: Omit<NewKey, "secret">): Promise<void> {
  await executor.execute(
    `INSERT INTO api_keys (id, key_hash, name, kind, permissions, organization_id, workspace_id, creator_user_id, disabled,
      created_at, expires_at, revoked_at, last_used_at, rate_limit, rate_burst)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      idToBytes(key.id),
      keyHash,
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
}

/** Keeps the time of the first revocation. */
export async function updateKeyRevoked(executor: Executor, id: string, revokedAt: Date): Promise<void> {
  await executor.execute("UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", [
    revokedAt,
    idToBytes(id),
  ]);
}

export async function updateKeyDisabled(executor: Executor, id: string, disabled: boolean): Promise<void> {
  await executor.execute("UPDATE api_keys SET disabled = ? WHERE id = ?", [disabled, idToBytes(id)]);
}

/** Writes nothing where the key was used since `unlessSince`. */
export async function updateKeyLastUsed(
  executor: Executor,
  id: string,
  usedAt: Date,
  unlessSince: Date,
): Promise<void> {
  await executor.execute(
    "UPDATE api_keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)",
    [usedAt, idToBytes(id), unlessSince],
  );
}

function keyFromRow(row: KeyRow): Key {
  return {
    id: idFromBytes(row.id),
    name: row.name,
    kind: row.kind,
    permissions: row.permissions.split(",").filter(Boolean) as Permission[],
    organizationId: idFromBytes(row.organization_id),
    workspaceId: row.workspace_id ? idFromBytes(row.workspace_id) : undefined,
    creatorUserId: row.creator_user_id,
    disabled: row.disabled !== 0,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    rateLimit:
      row.rate_limit === null ? undefined : { perSecond: row.rate_limit, burst: row.rate_burst ?? row.rate_limit },
  };
}
