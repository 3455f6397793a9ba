import { requestIdReused } from "../../platform/domain/domain-error.ts";
import { idToBytes } from "../../platform/domain/ids.ts";
import { requestRetentionMs } from "../../platform/domain/limits.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";

/** Where the ids of requests are: of those that create a secret, and of all others. */
type RequestTable = "key_requests" | "change_requests";

/** More than one, so that they are deleted faster than they are added. */
const deletedMax = 100;

/** Requests that are not newer may be deleted. */
export function retainedSince(now: Date): Date {
  return new Date(now.getTime() - requestRetentionMs);
}

/** Deletes some requests that are old enough. */
export async function deleteOldRequests(
  executor: Executor,
  table: RequestTable,
  organizationId: string,
  now: Date,
): Promise<void> {
  await executor.execute(`DELETE FROM ${table} WHERE organization_id = ? AND created_at <= ? LIMIT ${deletedMax}`, [
    idToBytes(organizationId),
    retainedSince(now),
  ]);
}

/** Throws if a request of this table has the id: an id identifies one request, of whichever kind. */
export async function checkUnusedIn(
  executor: Executor,
  table: RequestTable,
  organizationId: string,
  requestId: string,
): Promise<void> {
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT created_at FROM ${table} WHERE organization_id = ? AND request_id = ?`,
    [idToBytes(organizationId), requestId],
  );
  if (rows.length > 0) throw requestIdReused();
}
