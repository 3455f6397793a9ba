import { idToBytes } from "../../platform/domain/ids.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import { keyAlreadyMade, requestIdReused } from "../domain/errors.ts";

/** A request that makes a secret. */
export interface KeyRequest {
  readonly organizationId: string;
  /** Empty: it has no name, and every one is another. */
  readonly requestId: string;
  readonly digest: Buffer;
}

const keptMs = 24 * 60 * 60 * 1000;
/** More than one, so that they go faster than they come. */
const forgottenMax = 100;

/** Refuses a request that was carried out before: its secret cannot be shown again. */
export async function refuseRepeat(executor: Executor, request: KeyRequest, now: Date): Promise<void> {
  if (request.requestId === "") return;
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT request_digest, key_hash FROM key_requests WHERE organization_id = ? AND request_id = ? AND created_at > ?`,
    [idToBytes(request.organizationId), request.requestId, keptSince(now)],
  );
  const [row] = rows;
  if (!row) return;
  throw request.digest.equals(row.request_digest) ? keyAlreadyMade(row.key_hash.toString("hex")) : requestIdReused();
}

/** Remembers a request in the transaction of what it makes, and forgets some that are old enough. */
export async function insertKeyRequest(
  executor: Executor,
  request: KeyRequest,
  keyHash: string,
  now: Date,
): Promise<void> {
  const organizationId = idToBytes(request.organizationId);
  await executor.execute(
    `DELETE FROM key_requests WHERE organization_id = ? AND created_at <= ? LIMIT ${forgottenMax}`,
    [organizationId, keptSince(now)],
  );
  if (request.requestId === "") return;
  // The row of the same request id that is too old to count may be among those that were left.
  await executor.execute(
    `INSERT INTO key_requests (organization_id, request_id, request_digest, key_hash, created_at) VALUES (?, ?, ?, ?, ?)
      ON DUPLICATE KEY UPDATE request_digest = VALUES(request_digest), key_hash = VALUES(key_hash),
        created_at = VALUES(created_at)`,
    [organizationId, request.requestId, request.digest, Buffer.from(keyHash, "hex"), now],
  );
}

function keptSince(now: Date): Date {
  return new Date(now.getTime() - keptMs);
}
