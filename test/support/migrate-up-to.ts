import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { migrate } from "../../services/platform/mysql/migrate.ts";

/** Applies the migrations of a folder up to a number, which leaves the database as an older version would. */
export async function migrateUpTo(last: string, databaseUrl: string, migrations: URL): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-migrations-"));
  for (const name of readdirSync(migrations).filter((each) => each.slice(0, 4) <= last)) {
    copyFileSync(fileURLToPath(new URL(name, migrations)), join(folder, name));
  }
  await migrate(databaseUrl, pathToFileURL(`${folder}/`), () => {});
  rmSync(folder, { recursive: true });
}
