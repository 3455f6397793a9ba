import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, createConnection } from "mysql2/promise";
import { monotonicMs } from "../time/clock.ts";
import { connectionOptions, protocolOf, sessionStatements } from "./database-url.ts";
import {
  isAccessDenied,
  isAlreadyAltered,
  isLockTimeout,
  isStatementTimeout,
  isTransient,
  isUnknownDatabase,
} from "./errors.ts";
import { withMigrationLock } from "./migration-lock.ts";
import { isApplied, type Migration, type MigrationRow, readMigrations } from "./migrations.ts";
import { commitEachStatement } from "./session.ts";

/** For the handshake, and for each session statement. The statements of a migration may take hours. */
const connectTimeoutMs = 5_000;

const createTable = `
  CREATE TABLE IF NOT EXISTS schema_migrations (
    name VARCHAR(191) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    checksum CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    applied_at DATETIME(3) NOT NULL
  ) ENGINE = InnoDB`;

/** How long to wait for a database that is starting, full or out of reach, and who is told about it. */
interface Waiting {
  readonly waitMs: number;
  readonly onWait: (reason: string, leftMs: number) => void;
}

const pauseMs = 500;
/**
 * While an ALTER waits for a transaction that uses the table, everyone else waits behind the ALTER. So it gives way
 * before their statements fail, and for longer than it made them wait.
 */
const tableLockTimeoutSeconds = 2;
const tableLockPauseMs = 5_000;
/** At most one line per interval. */
const reportIntervalMs = 5_000;

/**
 * Migrates a database and returns the names of the migrations applied. Creates the database if there is none. Any
 * number of processes may call it at once, also through several nodes of a cluster: one migrates, the others wait and
 * find nothing to do. DDL cannot be rolled back, so each file is one statement that may be run again after a crash or a
 * lost connection.
 */
export async function migrate(
  url: string,
  directory: URL,
  onApply: (name: string) => void,
  { waitMs, onWait }: Waiting = { waitMs: 0, onWait: () => {} },
): Promise<string[]> {
  const migrations = await readMigrations(directory);
  const deadlineMs = monotonicMs() + waitMs;
  const applied = new Set<string>();
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  const reportWait = (reason: string, leftMs: number): void => {
    if (monotonicMs() - reportedAtMs < reportIntervalMs) return;
    reportedAtMs = monotonicMs();
    onWait(reason, leftMs);
  };
  const reportApply = (name: string): void => {
    applied.add(name);
    onApply(name);
  };
  for (;;) {
    try {
      await applyPending(url, migrations, reportApply, reportWait);
      return [...applied];
    } catch (error) {
      const leftMs = deadlineMs - monotonicMs();
      const nextMs = isLockTimeout(error) ? tableLockPauseMs : pauseMs;
      // Waiting helps neither with a wrong password nor with a statement that exceeds its time limit.
      const isPermanent = isAccessDenied(error) || isStatementTimeout(error);
      if (!isTransient(error) || isPermanent || leftMs < nextMs) throw error;
      // If a name has several addresses, the error has one message for each, and none of its own.
      const { message, code } = error as { message: string; code?: string };
      reportWait(message || String(code), leftMs);
      await sleep(nextMs);
    }
  }
}

async function applyPending(
  url: string,
  migrations: readonly Migration[],
  onApply: (name: string) => void,
  onWait: (reason: string, leftMs: number) => void,
): Promise<void> {
  const connection = await open(url);
  let worker: Connection | undefined;
  try {
    await connection.query(createTable);
    if ((await listPending(connection, migrations)).length > 0) {
      await withMigrationLock(connection, onWait, async () => {
        // Not before: a proxy, or the database, may close a connection that lies idle.
        worker = await open(url);
        // The previous holder of the lock may have applied them already.
        for (const migration of await listPending(connection, migrations)) await apply(worker, migration, onApply);
        await worker.end();
      });
    }
    await connection.end();
  } catch (error) {
    connection.destroy();
    worker?.destroy();
    throw error;
  }
}

async function listPending(connection: Connection, migrations: readonly Migration[]): Promise<Migration[]> {
  const [rows] = await connection.query<MigrationRow[]>("SELECT name, checksum FROM schema_migrations");
  return migrations.filter((migration) => !isApplied(migration, rows));
}

async function apply(
  connection: Connection,
  { name, sql, checksum }: Migration,
  onApply: (name: string) => void,
): Promise<void> {
  onApply(name);
  await connection.query(sql).catch((error: unknown) => {
    // MySQL has no conditional ALTER for this, so this is how a crash just after it appears.
    if (!isAlreadyAltered(error)) throw error;
  });
  // If a lock expired too early, another process may have recorded it already.
  await connection.query(
    `INSERT INTO schema_migrations (name, checksum, applied_at) VALUES (?, ?, UTC_TIMESTAMP(3))
      ON DUPLICATE KEY UPDATE checksum = VALUES(checksum)`,
    [name, checksum],
  );
}

async function open(url: string): Promise<Connection> {
  const connection = await connect(url);
  try {
    // Some migrations fill a new column of every row, which a server may be configured to refuse. Vitess, to which
    // statements are sent as text, has its own ways of altering tables.
    const ofTables =
      protocolOf(url) === "text" ? "" : `, sql_safe_updates = 0, lock_wait_timeout = ${tableLockTimeoutSeconds}`;
    const settings = [`SET SESSION ${commitEachStatement}${ofTables}`, ...sessionStatements(url)];
    for (const sql of settings) await connection.query({ sql, timeout: connectTimeoutMs });
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

async function connect(url: string): Promise<Connection> {
  try {
    return await createConnection({ ...connectionOptions(url), connectTimeout: connectTimeoutMs });
  } catch (error) {
    if (!isUnknownDatabase(error)) throw error;
  }
  const server = new URL(url);
  const database = decodeURIComponent(server.pathname.slice(1));
  server.pathname = "/";
  const connection = await createConnection({ ...connectionOptions(server.href), connectTimeout: connectTimeoutMs });
  try {
    await connection.query("CREATE DATABASE IF NOT EXISTS ?? CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", [database]);
    await connection.query("USE ??", [database]);
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}
