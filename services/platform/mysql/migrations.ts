import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { RowDataPacket } from "mysql2";
import { CommandError } from "../process/command-error.ts";

/** One step of a schema: a numbered file, which holds one statement. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** What a database has recorded about an applied migration. */
export interface MigrationRow extends RowDataPacket {
  readonly name: string;
  readonly checksum: string;
}

/** In the order of their numbers. */
export async function readMigrations(directory: URL): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, directory), "utf8");
      return { name: path.parse(name).name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    }),
  );
}

/** Throws if the file is not what was applied under its name. */
export function isApplied(migration: Migration, rows: readonly MigrationRow[]): boolean {
  const row = rows.find(({ name }) => name === migration.name);
  if (row && row.checksum !== migration.checksum) {
    throw new CommandError(
      `The migration ${migration.name} was changed after it had been applied to this database. Write a new one instead. A database of a commit that was never released is to be made anew: that of "npm start" is in the folder .setpoint.`,
    );
  }
  return row !== undefined;
}
