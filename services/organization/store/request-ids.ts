import { requestIdReused } from "../../platform/domain/domain-error.ts";
import { idToBytes } from "../../platform/domain/ids.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";

/** Where the ids of requests are: of those that create a secret, and of all others. */
type RequestTable = "key_requests" | "change_requests";

/** Throws if a request of this table has the id: an id identifies one request, of whichever kind. */
export async function checkUnusedIn(
  table: RequestTable,
  executor: Executor,
  organizationId: string,
  requestId: string,
): Promise<void> {
  const [rows] = await executor.execute<RowDataPacket[]>(
    `SELECT created_at FROM ${table} WHERE organization_id = ? AND request_id = ?`,
    [idToBytes(organizationId), requestId],
  );
  if (rows.length > 0) throw requestIdReused();
}
