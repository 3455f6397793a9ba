import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { QueryResult } from "mysql2";
import { type Connection, createConnection, type RowDataPacket } from "mysql2/promise";
import { monotonicMs } from "../process/clock.ts";
import type { ReadinessCheck } from "../process/health.ts";
import { connectionOptions } from "./database-url.ts";
import { isAccessDenied, isAlreadyAltered, isTransient, isUnknownDatabase, isUnknownTable } from "./errors.ts";
import type { Pool } from "./pool.ts";

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** How long to wait for another process that is migrating the same database. */
const lockTimeoutSeconds = 300;
const connectTimeoutMs = 5_000;

const createTable = `
  CREATE TABLE IF NOT EXISTS schema_migrations (
    name VARCHAR(191) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    checksum CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    applied_at DATETIME(3) NOT NULL
  ) ENGINE = InnoDB`;

/** How long a database that is starting, full or out of reach is waited for, and who is told of it. */
interface Waiting {
  readonly waitMs: number;
  readonly onWait: (reason: string, leftMs: number) => void;
}

const pauseMs = 500;
/** A line for each of these. */
const tellEveryMs = 5_000;

/**
 * Brings a database up to date and returns the names of what was applied. Creates the database where there is none.
 * Any number of processes may call it at once: one migrates, the others wait and find nothing to do; through several
 * nodes of a cluster, where they do not know of each other, they do the same work and agree.
 * DDL cannot be rolled back, so each file is one statement that may be run again: after a crash, and after a connection
 * that was lost on the way.
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
  for (let toldAtMs = Number.NEGATIVE_INFINITY; ; await sleep(pauseMs)) {
    try {
      await applyPending(url, migrations, (name) => {
        applied.add(name);
        onApply(name);
      });
      return [...applied];
    } catch (error) {
      const leftMs = deadlineMs - monotonicMs();
      // A wrong password does not get better by waiting.
      if (!isTransient(error) || isAccessDenied(error) || leftMs < pauseMs) throw error;
      // Where a name has several addresses, an error has one message for each, and none itself.
      const { message, code } = error as { message: string; code?: string };
      const reason = message || String(code);
      if (monotonicMs() - toldAtMs < tellEveryMs) continue;
      toldAtMs = monotonicMs();
      onWait(reason, leftMs);
    }
  }
}

async function applyPending(
  url: string,
  migrations: readonly Migration[],
  onApply: (name: string) => void,
): Promise<void> {
  const connection = await connect(url);
  const lock = `setpoint:${createHash("sha256").update(new URL(url).pathname).digest("hex").slice(0, 32)}`;
  try {
    await acquireLock(connection, lock);
    await connection.query(createTable);
    const applied = await findApplied(connection);
    for (const { name, sql, checksum } of migrations.filter((migration) => !isApplied(migration, applied))) {
      onApply(name);
      await connection.query(sql).catch((error: unknown) => {
        // MySQL cannot alter a table only where that is left to do, so this is how a crash after it looks.
        if (!isAlreadyAltered(error)) throw error;
      });
      // The lock of a Galera cluster holds on one node alone: through another, someone may have been faster.
      await connection.query(
        `INSERT INTO schema_migrations (name, checksum, applied_at) VALUES (?, ?, UTC_TIMESTAMP(3))
          ON DUPLICATE KEY UPDATE name = VALUES(name)`,
        [name, checksum],
      );
    }
  } catch (error) {
    connection.destroy();
    throw error;
  }
  // Closing the connection gives the lock back.
  await connection.end();
}

/** Fails while the database cannot be reached, is read-only, or has a schema that is older than this code. */
export function schemaIsCurrent(pool: Pool, directory: URL): ReadinessCheck {
  let current = false;
  return async () => {
    await checkWritable(pool);
    if (current) return;
    const applied = await findApplied(pool).catch((error: unknown) => {
      if (isUnknownTable(error)) return new Map<string, string>();
      throw error;
    });
    const pending = (await readMigrations(directory)).filter((migration) => !isApplied(migration, applied));
    if (pending.length > 0) throw new Error(`the database lacks ${pending.length} migrations: run the migrate command`);
    current = true;
  };
}

/** After a failover the server that we are connected to may have become the replica of another. */
async function checkWritable(pool: Pool): Promise<void> {
  const [rows] = await pool.query<RowDataPacket[]>("SELECT @@global.read_only, @@global.innodb_read_only");
  const isReadOnly = Object.values(rows[0] ?? {}).some((value) => !["0", "OFF"].includes(String(value)));
  if (!isReadOnly) return;
  pool.renew();
  throw new Error("the database is read-only");
}

async function readMigrations(directory: URL): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, directory), "utf8");
      return { name: path.parse(name).name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    }),
  );
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
    await connection.end();
    throw error;
  }
}

async function acquireLock(connection: Connection, name: string): Promise<void> {
  const [rows] = await connection.query<RowDataPacket[]>("SELECT GET_LOCK(?, ?)", [name, lockTimeoutSeconds]);
  // 0 is a timeout and NULL a fault; both would let two processes migrate at once. Vitess would not keep an alias.
  if (Object.values(rows[0] ?? {})[0] !== 1)
    throw new Error("Another process has been migrating this database for too long");
}

interface TextExecutor {
  query<T extends QueryResult>(sql: string): Promise<[T, unknown]>;
}

async function findApplied(executor: TextExecutor): Promise<Map<string, string>> {
  const [rows] = await executor.query<RowDataPacket[]>("SELECT name, checksum FROM schema_migrations");
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

function isApplied(migration: Migration, applied: Map<string, string>): boolean {
  const checksum = applied.get(migration.name);
  if (checksum !== undefined && checksum !== migration.checksum) {
    throw new Error(`The migration ${migration.name} was changed after it had been applied; write a new one instead`);
  }
  return checksum !== undefined;
}
