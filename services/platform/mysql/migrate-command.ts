import type { EnvironmentReader } from "../process/environment.ts";
import { readDatabaseUrl } from "./database-url.ts";
import { migrate } from "./migrate.ts";

/** What the migrate command needs. */
export interface MigrationConfig {
  readonly databaseUrl: string;
  /** How long a database that is starting, full or out of reach is waited for. */
  readonly waitSeconds: number;
}

export function readMigration(reader: EnvironmentReader, urlName: string, meaning: string): MigrationConfig {
  return {
    databaseUrl: readDatabaseUrl(reader, urlName, meaning),
    waitSeconds: reader.integer("MIGRATE_WAIT_SECONDS", { default: 60, min: 0, max: 3_600 }),
  };
}

/** Brings the database up to date, and prints what it does and what it waits for. */
export async function runMigrate({ databaseUrl, waitSeconds }: MigrationConfig, directory: URL): Promise<void> {
  const applied = await migrate(databaseUrl, directory, (name) => console.log(`applying ${name}`), {
    waitMs: waitSeconds * 1_000,
    onWait: (reason, leftMs) =>
      console.log(`waiting for the database, ${Math.ceil(leftMs / 1_000)} s at most: ${reason}`),
  });
  console.log(applied.length > 0 ? `${applied.length} migrations applied` : "the schema is current");
}
