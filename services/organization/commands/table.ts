/** What each column of a list is called, and what it shows of a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | undefined>>;

/** A line of the columns' names and one for each row, with tabs between the columns: no name or address holds a tab. */
export function tableOf<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  const cells = rows.map((row) => Object.values(columns).map((column) => column(row) ?? "-"));
  return [Object.keys(columns), ...cells].map((line) => line.join("\t")).join("\n");
}
