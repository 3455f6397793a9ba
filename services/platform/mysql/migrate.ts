import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type Connection, createConnection, type RowDataPacket } from "mysql2/promise";
import type { ReadinessCheck } from "../process/health.ts";
import { isDuplicateColumn, isUnknownDatabase, isUnknownTable } from "./errors.ts";
import type { Pool } from "./pool.ts";

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** How long to wait for another process that is migrating the same database. */
const lockTimeoutSeconds = 300;

const createTable = `
  CREATE TABLE IF NOT EXISTS schema_migrations (
    name VARCHAR(191) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    checksum CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    applied_at DATETIME(3) NOT NULL
  ) ENGINE = InnoDB`;

/**
 * Brings a database up to date and returns the names of what was applied. Creates the database where there is none.
 * Any number of processes may call it at once: one migrates, the others wait and find nothing to do.
 * DDL cannot be rolled back, so each file is one statement that may be run again after a crash.
 */
export async function migrate(url: string, directory: URL, onApply: (name: string) => void): Promise<string[]> {
  const migrations = await readMigrations(directory);
  const connection = await connect(url);
  const lock = `setpoint:${createHash("sha256").update(new URL(url).pathname).digest("hex").slice(0, 32)}`;
  try {
    await acquireLock(connection, lock);
    await connection.query(createTable);
    const applied = await findApplied(connection);
    const pending = migrations.filter((migration) => !isApplied(migration, applied));
    for (const { name, sql, checksum } of pending) {
      onApply(name);
      await connection.query(sql).catch((error: unknown) => {
        // MySQL cannot add a column only where there is none, so this is how a crash after it looks.
        if (!isDuplicateColumn(error)) throw error;
      });
      await connection.query(
        "INSERT INTO schema_migrations (name, checksum, applied_at) VALUES (?, ?, UTC_TIMESTAMP(3))",
        [name, checksum],
      );
    }
    return pending.map(({ name }) => name);
  } finally {
    // Closing the connection gives the lock back.
    await connection.end();
  }
}

/** Fails while the database cannot be reached, or has a schema that is older than this code. */
export function schemaIsCurrent(pool: Pool, directory: URL): ReadinessCheck {
  let current = false;
  return async () => {
    if (current) {
      await pool.query("SELECT 1");
      return;
    }
    const applied = await findApplied(pool).catch((error: unknown) => {
      if (isUnknownTable(error)) return new Map<string, string>();
      throw error;
    });
    const pending = (await readMigrations(directory)).filter((migration) => !isApplied(migration, applied));
    if (pending.length > 0) throw new Error(`the database lacks ${pending.length} migrations: run the migrate command`);
    current = true;
  };
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
    return await createConnection({ uri: url });
  } catch (error) {
    if (!isUnknownDatabase(error)) throw error;
  }
  const server = new URL(url);
  const database = decodeURIComponent(server.pathname.slice(1));
  server.pathname = "/";
  const connection = await createConnection({ uri: server.href });
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
  const [rows] = await connection.query<RowDataPacket[]>("SELECT GET_LOCK(?, ?) AS granted", [
    name,
    lockTimeoutSeconds,
  ]);
  // 0 is a timeout and NULL a fault; both would let two processes migrate at once.
  if (rows[0]?.granted !== 1) throw new Error("Another process has been migrating this database for too long");
}

async function findApplied(executor: Pick<Connection, "query">): Promise<Map<string, string>> {
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
