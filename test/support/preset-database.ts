import { migrate } from "../../services/platform/mysql/migrate.ts";
import { presetMigrations } from "../../services/preset/app.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";

/** A database with the tables of the preset service. */
export async function createPresetDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await migrate(database.url, presetMigrations, () => {});
  return database;
}
