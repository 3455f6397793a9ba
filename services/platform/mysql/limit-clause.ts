/**
 * A LIMIT clause with its numbers in the text: as parameters, MySQL would want them as text and Vitess as integers. So
 * each page is a statement of its own (`select-page.ts`).
 */
export function limitClause(limit: number, offset: number): string {
  for (const value of [limit, offset]) {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a number of rows: ${value}`);
  }
  return `LIMIT ${limit} OFFSET ${offset}`;
}
