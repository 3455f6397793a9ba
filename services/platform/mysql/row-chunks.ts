/** A prepared statement has room for 65,535 values in all, and one about fewer rows is parsed and packed faster. */
const rowsMax = 500;

/** Rows that are written by one statement each, however many there are in all. */
export function* rowChunks<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += rowsMax) yield rows.slice(from, from + rowsMax);
}
