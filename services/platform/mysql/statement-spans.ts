import type { Span } from "../observe/trace.ts";
import { namesOf } from "./statement-names.ts";

const system = { "db.system.name": "mysql" };

/** Records a statement that has just been sent: what it does, and with which table first. Of its values nothing is known. */
export function recordStatement(parent: Span, sql: string, answer: Promise<unknown>): void {
  const { operation, table, title } = namesOf(sql);
  const attributes = { ...system, "db.operation.name": operation, "db.collection.name": table };
  endWith(parent.beginCall(`mysql ${title}`, attributes), answer);
}

/** What a transaction is recorded as, with the wait for its connection; its statements are parts of it. */
export function beginTransactionSpan(parent: Span): Span {
  return parent.beginCall("mysql TRANSACTION", { ...system, "db.operation.name": "TRANSACTION" });
}

/** Ends a span when its work does. A failure is thrown at whoever waits for the work, and not here. */
export function endWith(span: Span, work: Promise<unknown>): void {
  work.then(
    () => span.end(),
    (error: unknown) => span.end(errorTypeOf(error)),
  );
}

/** The name that MySQL has for an error, or that of its class. Its message may hold values. */
export function errorTypeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: string };
  return typeof code === "string" && /^[A-Z\d_]{1,64}$/.test(code) ? code : (name ?? "Error");
}
