import type { Executor, RowDataPacket } from "./pool.ts";

/** The number that a statement counts or sums up, as `total` in its only row. */
export async function selectTotal(executor: Executor, sql: string, values: readonly unknown[]): Promise<number> {
  const [rows] = await executor.execute<RowDataPacket[]>(sql, values);
  // A sum arrives as text.
  return Number(rows[0]?.total);
}
