import { createRequire } from "node:module";
import { Pool, PoolConnection } from "../../services/platform/mysql/pool.ts";
import { lookForFault, lookForShardFault, lookForTenantFault, workspacesIn } from "./statement-rules.ts";

/** All statements of mysql2 pass through this, whether they come from a pool or a connection. */
interface CoreConnection {
  query(statement: string | { readonly sql: string }, values: unknown, ...rest: unknown[]): unknown;
  execute(statement: string | { readonly sql: string }, values: unknown, ...rest: unknown[]): unknown;
}

type Report = (fault: string | undefined, sql: string) => void;

/** One list for the whole process, because test files may each have a copy of this module. */
const watches = globalThis as { setpointStatementFaults?: string[] };

/**
 * Checks every statement that this process sends from now on against the rules of Vitess and of tenants, whichever way it is sent.
 * Returns the list that faults are added to, each with its statement.
 */
export function watchStatements(): string[] {
  if (watches.setpointStatementFaults) return watches.setpointStatementFaults;
  const faults: string[] = [];
  const report: Report = (fault, sql) => {
    if (fault) faults.push(`${fault}: ${sql.replaceAll(/\s+/g, " ").trim()}`);
  };
  watchConnections(report);
  watchSenders(report);
  watches.setpointStatementFaults = faults;
  return faults;
}

/** The state of a connection to Vitess. */
interface Session {
  /** The workspaces of the open transaction. */
  workspaces: Set<string> | undefined;
}

function watchConnections(report: Report): void {
  const { prototype } = createRequire(import.meta.url)("mysql2").Connection as { prototype: CoreConnection };
  const sessions = new WeakMap<CoreConnection, Session>();
  for (const method of ["query", "execute"] as const) {
    const send = prototype[method];
    prototype[method] = function (statement, values, ...rest) {
      const sql = typeof statement === "string" ? statement : statement.sql;
      const bound = Array.isArray(values) ? values : [];
      // Sent only to Vitess, before anything else.
      if (sql === "SET SESSION transaction_mode = 'SINGLE'") sessions.set(this, { workspaces: undefined });
      const session = sessions.get(this);
      const isPrepared = method === "execute";
      report(lookForFault({ sql, values: bound, isPrepared, isSharded: session !== undefined }), sql);
      if (session) follow(session, sql, bound, report);
      return send.call(this, statement, values, ...rest);
    };
  }
}

function follow(session: Session, sql: string, values: readonly unknown[], report: Report): void {
  if (sql.startsWith("START TRANSACTION")) session.workspaces = new Set();
  else if (sql === "COMMIT" || sql === "ROLLBACK") session.workspaces = undefined;
  const { workspaces } = session;
  if (!workspaces) return;
  for (const id of workspacesIn(sql, values)) workspaces.add(id);
  if (workspaces.size > 1) report("its transaction is about several workspaces", sql);
}

/** Tests may query the tables as they like; statements of our own code must name their workspace or organization. */
function watchSenders(report: Report): void {
  for (const { prototype } of [Pool, PoolConnection]) {
    for (const method of ["query", "execute"] as const) {
      const send = prototype[method] as (sql: string, values?: readonly unknown[]) => never;
      prototype[method] = function (this: Pool | PoolConnection, sql: string, values?: readonly unknown[]) {
        const fault = lookForShardFault(sql) ?? lookForTenantFault(sql);
        if (fault && !isSentByTest()) report(fault, sql);
        return send.call(this, sql, values);
      } as typeof send;
    }
  }
}

/** Decided by the direct caller of the pool or connection; who called our own code does not matter. */
function isSentByTest(): boolean {
  const { prepareStackTrace } = Error;
  // Vitest imports some files again, with a query appended to their names.
  Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFileName()?.split("?")[0] ?? "");
  const files = new Error().stack as unknown as readonly string[];
  Error.prepareStackTrace = prepareStackTrace;
  const isPassedBy = (file: string) => /\/(statement-watch|services\/platform\/mysql\/\w+)\.ts$/.test(file);
  const sender = files.find((file) => file.endsWith(".ts") && !isPassedBy(file)) ?? "";
  return /\/test\/|\.test\.ts$/.test(sender);
}
