import { DomainError, requestIdReused } from "../../platform/domain/domain-error.ts";
import { idToBytes } from "../../platform/domain/ids.ts";
import { WrittenElsewhere } from "../../platform/mysql/errors.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import { keyAlreadyCreated } from "../domain/errors.ts";
import { type NewKey, type NewSecret, seededSecret } from "../domain/keys.ts";
import { findKey } from "./keys.ts";
import { checkUnusedIn, deleteOldRequests, retainedSince } from "./request-ids.ts";

/** A request that creates a secret. */
interface KeyRequest {
  readonly organizationId: string;
  /** Empty: it has none, and a retry is another request. */
  readonly requestId: string;
  readonly digest: Buffer;
  /** The secret derived from its seed, if it has one. */
  readonly seeded: NewSecret | undefined;
  /** Whether it is a rotation that lets the secret before it work for a while. */
  readonly hasGrace: boolean;
}

interface Seeded {
  readonly requestId: string;
  /** Of a rotation. */
  readonly graceSeconds?: number;
  readonly secretSeed?: Uint8Array | undefined;
}

export function keyRequestOf(
  organizationId: string,
  { requestId, graceSeconds = 0, secretSeed = new Uint8Array() }: Seeded,
  digest: Buffer,
): KeyRequest {
  const seeded = secretSeed.length > 0 ? seededSecret(secretSeed, organizationId, requestId) : undefined;
  return { organizationId, requestId, digest, seeded, hasGrace: graceSeconds > 0 };
}

/**
 * The key that the request created earlier, for a retry that can derive the secret from its seed. Any other retry is
 * refused: the secret is not stored, and cannot be shown again.
 */
export async function findCreatedKey(executor: Executor, request: KeyRequest, now: Date): Promise<NewKey | undefined> {
  if (request.requestId === "") return undefined;
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT request_digest, key_hash FROM key_requests WHERE organization_id = ? AND request_id = ? AND created_at > ?`,
    [idToBytes(request.organizationId), request.requestId, retainedSince(now)],
  );
  const [row] = rows;
  if (!row) {
    await checkUnusedIn(executor, "change_requests", request.organizationId, request.requestId);
    return undefined;
  }
  if (!request.digest.equals(row.request_digest)) throw requestIdReused();
  const { organizationId, seeded, hasGrace } = request;
  const hash = row.key_hash.toString("hex");
  const key = seeded?.hash === hash ? await findKey(executor, organizationId, hash) : undefined;
  if (!seeded || !key) throw keyAlreadyCreated(hash, hasGrace);
  return { key, secret: seeded.secret };
}

/**
 * For a refusal that may be due to the request's own earlier effect (its secret is taken, or the key no longer has the
 * hash that it was named by): if it was executed through another node of a cluster since we looked, a retry finds it.
 */
export function rethrowUnlessCreatedElsewhere(executor: Executor, request: KeyRequest, now: Date) {
  return async (error: unknown): Promise<never> => {
    if (!(error instanceof DomainError)) throw error;
    throw (await findCreatedKey(executor, request, now)) ? new WrittenElsewhere(error) : error;
  };
}

/** Stores a request in the transaction of what it creates, and deletes some that are old enough. */
export async function insertKeyRequest(
  executor: Executor,
  { organizationId, requestId, digest }: KeyRequest,
  keyHash: string,
  now: Date,
): Promise<void> {
  await deleteOldRequests(executor, "key_requests", organizationId, now);
  if (requestId === "") return;
  // An expired row of the same request id may be among those that were not deleted.
  await executor.execute(
    `INSERT INTO key_requests (organization_id, request_id, request_digest, key_hash, created_at) VALUES (?, ?, ?, ?, ?)
      ON DUPLICATE KEY UPDATE request_digest = VALUES(request_digest), key_hash = VALUES(key_hash),
        created_at = VALUES(created_at)`,
    [idToBytes(organizationId), requestId, digest, Buffer.from(keyHash, "hex"), now],
  );
}
