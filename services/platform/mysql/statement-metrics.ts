import type { Metrics } from "../observe/metrics.ts";
import type { OnStatement } from "./connection.ts";
import { errorTypeOf, namesOf } from "./statement-spans.ts";

/** A batch of each size is a text of its own; to find its name costs more than to look it up. */
const namesMax = 500;

/** Counts statements by what they do and with which table first: `SELECT presets`. Never by their text. */
export function statementObserver(metrics: Metrics): OnStatement {
  const names = new Map<string, string>();
  const nameOf = (sql: string): string => {
    let name = names.get(sql);
    if (name === undefined) {
      const { operation, table } = namesOf(sql);
      name = table === undefined ? operation : `${operation} ${table}`;
      if (names.size >= namesMax) names.clear();
      names.set(sql, name);
    }
    return name;
  };
  return (sql, ms, error) => metrics.statementAnswered(nameOf(sql), error ? errorTypeOf(error) : "ok", ms / 1000);
}
