import type { Command } from "../process/command.ts";
import { CommandError } from "../process/command-error.ts";
import { print } from "../process/print.ts";
import { throwDatabaseFault } from "./command-fault.ts";
import { openPool, type Pool } from "./pool.ts";
import { schemaIsCurrent } from "./schema.ts";

/** An administrator's command returns what to print, once everything is stored. */
export type DatabaseCommand = Command<Pool, string>;

interface CommandDatabase {
  /** Called only to run a command, so that its help works without a database. */
  readonly readUrl: () => string;
  readonly migrations: URL;
}

/** Gives a command the database that the environment names. */
export function onDatabase(command: DatabaseCommand, { readUrl, migrations }: CommandDatabase): Command {
  return {
    ...command,
    read: (parameters) => {
      const work = command.read(parameters);
      return async () => {
        const pool = openPool(readUrl(), 1);
        try {
          await checkSchema(pool, migrations);
          await print(await work(pool).catch(throwDatabaseFault));
        } finally {
          await pool.end();
        }
      };
    },
  };
}

async function checkSchema(pool: Pool, migrations: URL): Promise<void> {
  await schemaIsCurrent(pool, migrations)()
    .catch(throwDatabaseFault)
    .catch((error: Error) => {
      throw error instanceof CommandError ? error : new CommandError(`The database cannot be used: ${error.message}`);
    });
}
