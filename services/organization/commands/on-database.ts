import { sayDatabaseFault } from "../../platform/mysql/command-fault.ts";
import { schemaIsCurrent } from "../../platform/mysql/migrate.ts";
import { openPool, type Pool } from "../../platform/mysql/pool.ts";
import type { Command } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { organizationMigrations } from "../app.ts";
import { readOrganizationDatabaseUrl } from "../config.ts";

/** A command of the administrator returns what there is to print, once all of it is stored. */
export type DatabaseCommand = Command<Pool, string>;

/** Gives a command the database that the environment names. */
export function onDatabase(command: DatabaseCommand): Command {
  return {
    ...command,
    read: (parameters) => {
      const work = command.read(parameters);
      return async () => {
        const pool = openPool(readOrganizationDatabaseUrl(process.env), 1);
        try {
          await checkSchema(pool);
          console.log(await work(pool).catch(sayDatabaseFault));
        } finally {
          await pool.end();
        }
      };
    },
  };
}

async function checkSchema(pool: Pool): Promise<void> {
  await schemaIsCurrent(pool, organizationMigrations)()
    .catch(sayDatabaseFault)
    .catch((error: Error) => {
      throw error instanceof CommandError ? error : new CommandError(`The database cannot be used: ${error.message}`);
    });
}
