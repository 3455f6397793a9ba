import type { Metrics } from "../observe/metrics.ts";
import type { OnStatement } from "./connection.ts";
import { namesOf } from "./statement-names.ts";
import { errorTypeOf } from "./statement-spans.ts";

/** Counts statements by their verb and first table: `SELECT presets`. Never by their text. */
export function statementObserver(metrics: Metrics): OnStatement {
  return (sql, ms, error) =>
    metrics.statementAnswered(namesOf(sql).title, error ? errorTypeOf(error) : "ok", ms / 1000);
}
