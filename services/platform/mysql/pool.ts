import type { Connection } from "mysql2";
import { createPool, type Pool, type PoolConnection } from "mysql2/promise";

export type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from "mysql2/promise";

/** What can run a statement: a pool, or the connection of a transaction. */
export type Executor = Pick<Pool | PoolConnection, "execute">;

/** Two statements: SET TRANSACTION stands alone, and MySQL and MariaDB name the variable behind it differently. */
const sessionStatements = [
  "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
  "SET SESSION time_zone = '+00:00', innodb_lock_wait_timeout = 3, sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO'",
];

/** Longer than any lock is waited for. What takes longer has no one to answer to any more. */
const statementTimeoutMsDefault = 8_000;

/** Of one connection; those used longest ago are closed. */
const preparedStatementsMax = 100;

/**
 * A pool whose connections all speak UTC, strict SQL and READ COMMITTED, and do not wait long for a lock: whoever holds
 * one for seconds has hung, and the default of 50 s would outlast every caller.
 * Under REPEATABLE READ, locking a row that is not there yet locks the gap, and concurrent creations deadlock.
 */
export function openPool(url: string, size: number, statementTimeoutMs = statementTimeoutMsDefault): Pool {
  const pool = createPool({
    uri: url,
    connectionLimit: size,
    maxIdle: size,
    connectTimeout: 5_000,
    enableKeepAlive: true,
    keepAliveInitialDelay: 10_000,
    charset: "utf8mb4_bin",
    timezone: "Z",
    supportBigNumbers: true,
    // A batch of each size is a statement of its own, and a server keeps 16,382 of them in all by default.
    maxPreparedStatements: preparedStatementsMax,
    // A stack for every statement, in case it fails, would cost more than the statement; the log has the request id.
    trace: false,
  });
  // Commands of a connection run in order, so these come before any that the pool's user sends.
  pool.pool.on("connection", (connection) => {
    limitStatements(connection, statementTimeoutMs);
    for (const statement of sessionStatements) {
      connection.query(statement, (error) => {
        if (error) connection.destroy();
      });
    }
  });
  return pool;
}

/**
 * Gives every statement of a connection a timeout. A server that vanished without a word, or hangs, would otherwise hold
 * its connections for many minutes, and with two of them all creations. What the server did of the statement is unknown
 * then, so the connection is not used again.
 */
function limitStatements(connection: Connection, timeoutMs: number): void {
  for (const method of ["query", "execute"] as const) {
    const run = connection[method].bind(connection) as (...parameters: unknown[]) => unknown;
    const limited = (sql: unknown, values: unknown, onDone: unknown) => {
      // A command that the pool has put together already goes as it is.
      if (typeof sql !== "string") return run(sql, values, onDone);
      const [given, answer] = typeof values === "function" ? [undefined, values] : [values, onDone];
      return run({ sql, values: given, timeout: timeoutMs }, (error: { code?: string } | null, ...rest: unknown[]) => {
        if (error?.code === "PROTOCOL_SEQUENCE_TIMEOUT") connection.destroy();
        (answer as ((...results: unknown[]) => void) | undefined)?.(error, ...rest);
      });
    };
    Object.assign(connection, { [method]: limited });
  }
}
