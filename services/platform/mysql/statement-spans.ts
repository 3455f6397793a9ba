import type { Span } from "../observe/trace.ts";
import { namesOf } from "./statement-names.ts";

const system = { "db.system.name": "mysql" };

/** Records a statement that has just been sent, by its verb and first table, without its values. */
export function recordStatement(parent: Span, sql: string, answer: Promise<unknown>): void {
  const { operation, table, title } = namesOf(sql);
  const attributes = { ...system, "db.operation.name": operation, "db.collection.name": table };
  endWith(parent.beginCall(`mysql ${title}`, attributes), answer);
}

/** The span of a transaction, including the wait for its connection; its statements are children of it. */
export function beginTransactionSpan(parent: Span): Span {
  return parent.beginCall("mysql TRANSACTION", { ...system, "db.operation.name": "TRANSACTION" });
}

/** Ends a span when its work ends. A failure is thrown to whoever waits for the work, and not here. */
export function endWith(span: Span, work: Promise<unknown>): void {
  work.then(
    () => span.end(),
    (error: unknown) => span.end(errorTypeOf(error)),
  );
}

/** MySQL's name of an error, or that of its class. Its message may contain values. */
export function errorTypeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: string };
  return typeof code === "string" && /^[A-Z\d_]{1,64}$/.test(code) ? code : (name ?? "Error");
}
