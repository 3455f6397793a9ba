import { idToBytes, isId } from "../../platform/domain/ids.ts";
import { isDuplicateKey } from "../../platform/mysql/errors.ts";
import type { Executor } from "../../platform/mysql/pool.ts";
import { rowChunks } from "../../platform/mysql/row-chunks.ts";
import { repeated } from "../../platform/mysql/text-by-count.ts";
import { keyAlreadyCreated, keyNotFound } from "../domain/errors.ts";
import { isKeyName, type Key } from "../domain/keys.ts";
import { type KeyRow, keyColumns, keyFromRow } from "./key-rows.ts";

/** The key with this hash or id, revoked or not, of any organization. */
export async function findKeyAnywhere(executor: Executor, name: string): Promise<Key | undefined> {
  const { sql, value } = conditionFor(name);
  const [rows] = await executor.execute<KeyRow[]>(`SELECT ${keyColumns} FROM api_keys k WHERE ${sql}`, [value]);
  return rows[0] && keyFromRow(rows[0]);
}

/** The key of the organization with this hash or id; undefined if it is revoked. */
export async function findKey(executor: Executor, organizationId: string, name: string): Promise<Key | undefined> {
  if (!isKeyName(name)) return undefined;
  const { sql, value } = conditionFor(name);
  const [rows] = await executor.execute<KeyRow[]>(
    `SELECT ${keyColumns} FROM api_keys k WHERE ${sql} AND k.organization_id = ? AND k.revoked_at IS NULL`,
    [value, idToBytes(organizationId)],
  );
  return rows[0] && keyFromRow(rows[0]);
}

/** The same; throws if there is none. */
export async function getKey(executor: Executor, organizationId: string, name: string): Promise<Key> {
  const key = await findKey(executor, organizationId, name);
  if (!key) throw keyNotFound();
  return key;
}

function conditionFor(name: string): { readonly sql: string; readonly value: Buffer } {
  return isId(name)
    ? { sql: "k.id = ?", value: idToBytes(name) }
    : { sql: "k.key_hash = ?", value: Buffer.from(name, "hex") };
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
  await refuseTakenHash(key, inserted);
}

/** A secret repeats only if its seed does, long after the request that it was first used for. */
async function refuseTakenHash({ hash, previousExpiresAt }: Key, stored: Promise<unknown>): Promise<void> {
  try {
    await stored;
  } catch (error) {
    throw isDuplicateKey(error) ? keyAlreadyCreated(hash, previousExpiresAt !== undefined) : error;
  }
}

/** Writes the mutable fields of a key other than its secret. */
export async function updateKeyRow(executor: Executor, key: Key): Promise<void> {
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
      `UPDATE api_keys SET disabled = TRUE, updated_at = ? WHERE id IN (${repeated(chunk.length, "?")})`,
      [now, ...chunk.map(({ id }) => idToBytes(id))],
    );
  }
}

/** The current secret of a key becomes its previous one if there is a grace period, and is discarded otherwise. */
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
  await refuseTakenHash(after, updated);
}

/** Skips keys whose use was recorded since `exceptSince`. */
export async function updateKeysLastUsed(
  executor: Executor,
  ids: readonly string[],
  usedAt: Date,
  exceptSince: Date,
): Promise<void> {
  await executor.execute(
    `UPDATE api_keys SET last_used_at = ?
      WHERE id IN (${repeated(ids.length, "?")}) AND (last_used_at IS NULL OR last_used_at < ?)`,
    [usedAt, ...ids.map(idToBytes), exceptSince],
  );
}
