import type { PoolConnection, RowDataPacket } from "../../services/platform/mysql/pool.ts";

/** How many rows and index entries the server reads for the work on a connection. */
export async function rowReads(connection: PoolConnection, work: () => Promise<unknown>): Promise<number> {
  const readsSoFar = async () => {
    const [rows] = await connection.query<RowDataPacket[]>("SHOW SESSION STATUS LIKE 'Handler_read%'");
    return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
  };
  // The cost of querying the counters themselves is subtracted.
  const idle = -(await readsSoFar()) + (await readsSoFar());
  const before = await readsSoFar();
  await work();
  return (await readsSoFar()) - before - idle;
}
