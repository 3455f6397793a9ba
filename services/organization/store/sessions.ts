import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Executor, PoolConnection, RowDataPacket } from "../../platform/mysql/pool.ts";
import { repeated } from "../../platform/mysql/text-by-count.ts";
import { sessionIdleMaxMs, ticketLifeMs } from "../domain/session-times.ts";
import { keySessionsMax, type SessionKey } from "../domain/sessions.ts";

/** More than one, so that they are deleted faster than they are added. */
const deletedMax = 100;

export async function hasSession(executor: Executor, tokenHash: Buffer): Promise<boolean> {
  const [rows] = await executor.execute<RowDataPacket[]>("SELECT 1 FROM console_sessions WHERE token_hash = ?", [
    tokenHash,
  ]);
  return rows.length > 0;
}

export async function insertSession(
  executor: Executor,
  tokenHash: Buffer,
  { keyId, keyHash }: SessionKey,
  now: Date,
): Promise<void> {
  await executor.execute(
    "INSERT INTO console_sessions (token_hash, key_id, key_hash, created_at, last_used_at) VALUES (?, ?, ?, ?, ?)",
    [tokenHash, idToBytes(keyId), keyHash, now, now],
  );
}

export async function deleteSession(executor: Executor, tokenHash: Buffer): Promise<void> {
  await executor.execute("DELETE FROM console_sessions WHERE token_hash = ?", [tokenHash]);
}

/**
 * Deletes some of the expired sessions, and the excess ones of the key. An expired session is no longer used, so it is
 * found by its last use, whichever of its time limits was reached first.
 */
export async function deleteOldSessions(executor: Executor, keyId: string, now: Date): Promise<void> {
  await executor.execute(`DELETE FROM console_sessions WHERE last_used_at <= ? LIMIT ${deletedMax}`, [
    new Date(now.getTime() - sessionIdleMaxMs),
  ]);
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT token_hash FROM console_sessions WHERE key_id = ? ORDER BY created_at DESC, token_hash DESC
      LIMIT ${deletedMax} OFFSET ${keySessionsMax}`,
    [idToBytes(keyId)],
  );
  if (rows.length === 0) return;
  await executor.execute(
    `DELETE FROM console_sessions WHERE token_hash IN (${repeated(rows.length, "?")})`,
    rows.map((row) => row.token_hash),
  );
}

/** Skips sessions whose use was recorded since `exceptSince`. They are named by their hashes in hexadecimal digits. */
export async function updateSessionsLastUsed(
  executor: Executor,
  hashes: readonly string[],
  usedAt: Date,
  exceptSince: Date,
): Promise<void> {
  await executor.execute(
    `UPDATE console_sessions SET last_used_at = ?
      WHERE token_hash IN (${repeated(hashes.length, "?")}) AND last_used_at < ?`,
    [usedAt, ...hashes.map((hash) => Buffer.from(hash, "hex")), exceptSince],
  );
}

/** Stores a ticket, and deletes some that are too old. */
export async function insertTicket(
  executor: Executor,
  ticketHash: Buffer,
  { keyId, keyHash }: SessionKey,
  now: Date,
): Promise<void> {
  await executor.execute(`DELETE FROM console_tickets WHERE expires_at <= ? LIMIT ${deletedMax}`, [now]);
  await executor.execute(
    "INSERT INTO console_tickets (ticket_hash, key_id, key_hash, expires_at) VALUES (?, ?, ?, ?)",
    [ticketHash, idToBytes(keyId), keyHash, new Date(now.getTime() + ticketLifeMs)],
  );
}

/**
 * The key that the ticket stands for; the ticket is used up in this transaction. Undefined if it is not valid, or no
 * longer.
 */
export async function takeTicket(
  connection: PoolConnection,
  ticketHash: Buffer,
  now: Date,
): Promise<SessionKey | undefined> {
  const [rows] = await connection.execute<RowDataPacket[]>(
    "SELECT key_id, key_hash FROM console_tickets WHERE ticket_hash = ? AND expires_at > ? FOR UPDATE",
    [ticketHash, now],
  );
  const [row] = rows;
  if (!row) return undefined;
  await connection.execute("DELETE FROM console_tickets WHERE ticket_hash = ?", [ticketHash]);
  return { keyId: idFromBytes(row.key_id), keyHash: row.key_hash };
}
