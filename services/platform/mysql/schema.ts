import type { RowDataPacket } from "mysql2";
import type { ReadinessCheck } from "../process/health.ts";
import { isUnknownTable } from "./errors.ts";
import { isApplied, type Migration, type MigrationRow, readMigrations } from "./migrations.ts";
import type { Pool } from "./pool.ts";

/**
 * Fails while the database cannot be reached, is read-only, does not read its tables, or has a schema that is older than
 * this code.
 */
export function schemaIsCurrent(pool: Pool, directory: URL): ReadinessCheck {
  let last: Migration | undefined;
  return async () => {
    await checkWritable(pool);
    last ??= (await readMigrations(directory)).at(-1);
    // Every time, because a node of a cluster that refuses all work still answers a statement that reads no table.
    if (last && !isApplied(last, await findApplied(pool, last.name)))
      throw new Error(`the database lacks the migration ${last.name}: run the migrate command`);
  };
}

/** After a failover, the server that we are connected to may be a replica. */
async function checkWritable(pool: Pool): Promise<void> {
  const [rows] = await pool.query<RowDataPacket[]>("SELECT @@global.read_only, @@global.innodb_read_only");
  const isReadOnly = Object.values(rows[0] ?? {}).some((value) => !["0", "OFF"].includes(String(value)));
  if (!isReadOnly) return;
  pool.renew();
  throw new Error("the database is read-only");
}

/** By its name, so that only one shard is asked. Migrations are applied in order: if the last one is there, all are. */
async function findApplied(pool: Pool, name: string): Promise<MigrationRow[]> {
  const sql = "SELECT name, checksum FROM schema_migrations WHERE name = ?";
  const [rows] = await pool.query<MigrationRow[]>(sql, [name]).catch((error: unknown) => {
    if (isUnknownTable(error)) return [[]];
    throw error;
  });
  return rows;
}
