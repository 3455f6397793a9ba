/** A prepared statement may have 65,535 values in total, and one with fewer rows is parsed and encoded faster. */
const rowsMax = 500;

/** Splits rows into chunks that are written by one statement each. */
export function* rowChunks<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += rowsMax) yield rows.slice(from, from + rowsMax);
}
