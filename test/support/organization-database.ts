import { organizationMigrations } from "../../services/organization/app.ts";
import { migrate } from "../../services/platform/mysql/migrate.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";

/** A database with the tables of the organization service. */
export async function createOrganizationDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await migrate(database.url, organizationMigrations, () => {});
  return database;
}
