import type { Page } from "../domain/page.ts";
import type { Executor, RowDataPacket } from "./pool.ts";

/**
 * Selects a page whose numbers are in the text of its statement. The first page of a list is asked for most often, and
 * its statement is prepared once. That of any other page would be prepared for a single use, at the cost of a round
 * trip and of memory on both sides, so it is sent as text.
 */
export async function selectPage<Row extends RowDataPacket>(
  executor: Executor,
  { offset }: Pick<Page, "offset">,
  sql: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const [rows] = await executor[offset === 0 ? "execute" : "query"]<Row[]>(sql, values);
  return rows;
}
