import type { PoolConnection, RowDataPacket } from "../../services/platform/mysql/pool.ts";

/** How many rows and entries of indexes the server reads for what is done on the connection. */
export async function rowReads(connection: PoolConnection, work: () => Promise<unknown>): Promise<number> {
  const readsSoFar = async () => {
    const [rows] = await connection.query<RowDataPacket[]>("SHOW SESSION STATUS LIKE 'Handler_read%'");
    return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
  };
  // What it costs to ask for the numbers is not part of them.
  const idle = -(await readsSoFar()) + (await readsSoFar());
  const before = await readsSoFar();
  await work();
  return (await readsSoFar()) - before - idle;
}
