/**
 * A page in SQL, with its numbers in the text: as parameters, MySQL would want them as text and Vitess as integers.
 * Each page is a prepared statement of its own, which costs those a round trip that are seldom asked for.
 */
export function limitClause(limit: number, offset: number): string {
  for (const value of [limit, offset]) {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a number of rows: ${value}`);
  }
  return `LIMIT ${limit} OFFSET ${offset}`;
}
