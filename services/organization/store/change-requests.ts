import { requestIdReused } from "../../platform/domain/domain-error.ts";
import { idToBytes } from "../../platform/domain/ids.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import { checkUnusedIn, deleteOldRequests } from "./request-ids.ts";

/** A change with a request id, and how its answer is stored. */
export interface RepeatableRequest<T> {
  readonly requestId: string;
  /** Of the request. */
  readonly digest: Buffer;
  readonly toBytes: (answer: T) => Uint8Array;
  readonly fromBytes: (bytes: Uint8Array) => T;
}

/** The answer to the request, if it was executed before. */
export async function findAnswer<T>(
  executor: Executor,
  organizationId: string,
  { requestId, digest, fromBytes }: RepeatableRequest<T>,
): Promise<{ readonly answer: T } | undefined> {
  const [rows] = await executor.execute<RowDataPacket[]>(
    "SELECT request_digest, answer FROM change_requests WHERE organization_id = ? AND request_id = ?",
    [idToBytes(organizationId), requestId],
  );
  const [row] = rows;
  if (!row) {
    await checkUnusedIn(executor, "key_requests", organizationId, requestId);
    return undefined;
  }
  if (!digest.equals(row.request_digest)) throw requestIdReused();
  return { answer: fromBytes(row.answer) };
}

/** Stores an answer in the transaction of its change, and deletes some that are old enough. */
export async function insertAnswer<T>(
  executor: Executor,
  organizationId: string,
  { requestId, digest, toBytes }: RepeatableRequest<T>,
  answer: T,
  now: Date,
): Promise<void> {
  await deleteOldRequests(executor, "change_requests", organizationId, now);
  await executor.execute(
    `INSERT INTO change_requests (organization_id, request_id, request_digest, answer, created_at) VALUES (?, ?, ?, ?, ?)`,
    [idToBytes(organizationId), requestId, digest, Buffer.from(toBytes(answer)), now],
  );
}
