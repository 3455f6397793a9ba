/** What each column of a list is called, and what it shows of a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | undefined>>;

/** A header line and a line for each row, tab-separated: no name or address contains a tab. */
export function tableOf<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  const cells = rows.map((row) => Object.values(columns).map((column) => column(row) ?? "-"));
  return [Object.keys(columns), ...cells].map((line) => line.join("\t")).join("\n");
}
