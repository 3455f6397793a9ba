import { type Command, defineCommand } from "../process/command.ts";
import type { EnvironmentReader } from "../process/environment.ts";
import { print } from "../process/print.ts";
import { throwDatabaseFault } from "./command-fault.ts";
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

/** The command that migrates the database of a service. `readConfig` is called only to run it. */
export function migrateCommand(readConfig: () => MigrationConfig, directory: URL): Command {
  return defineCommand({
    name: "migrate",
    summary: "Migrates the database, and creates it if there is none. Safe to repeat, and to run several at once.",
    flags: {},
    example: "",
    run: async () => {
      const { databaseUrl, waitSeconds } = readConfig();
      const applied = await migrate(databaseUrl, directory, (name) => printProgress(`applying ${name}`), {
        waitMs: waitSeconds * 1_000,
        onWait: (reason, leftMs) =>
          printProgress(`waiting for the database, ${Math.ceil(leftMs / 1_000)} s at most: ${reason}`),
      }).catch(throwDatabaseFault);
      await print(applied.length > 0 ? `${applied.length} migrations applied` : "the schema is current");
    },
  });
}

/** A migration continues even if its progress cannot be printed. */
function printProgress(progress: string): void {
  print(progress).catch(() => {});
}
