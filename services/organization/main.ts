import { CommandError, runCommand, runProcess } from "../platform/lifecycle.ts";
import { createLogger } from "../platform/logger.ts";
import { migrate, schemaIsCurrent } from "../platform/mysql/migrate.ts";
import { openPool, type Pool } from "../platform/mysql/pool.ts";
import { openOrganizationService, organizationMigrations } from "./app.ts";
import { addMember } from "./commands/add-member.ts";
import { bootstrap } from "./commands/bootstrap.ts";
import { createKey } from "./commands/create-key.ts";
import { listKeys } from "./commands/list-keys.ts";
import { revokeKey } from "./commands/revoke-key.ts";
import { readOrganizationConfig, readOrganizationDatabaseUrl } from "./config.ts";

await runCommand({
  serve: async () => {
    const config = readOrganizationConfig(process.env);
    const logger = createLogger("organization", config.logLevel);
    await runProcess(logger, (lifecycle) => openOrganizationService(config, logger, lifecycle));
  },
  migrate: async () => {
    const applied = await migrate(readOrganizationDatabaseUrl(process.env), organizationMigrations, (name) =>
      console.log(`applying ${name}`),
    );
    console.log(applied.length > 0 ? `${applied.length} migrations applied` : "the schema is current");
  },
  bootstrap: onDatabase(bootstrap),
  "add-member": onDatabase(addMember),
  "create-key": onDatabase(createKey),
  "list-keys": onDatabase(listKeys),
  "revoke-key": onDatabase(revokeKey),
});

function onDatabase(command: (pool: Pool, parameters: string[], print: (text: string) => void) => Promise<void>) {
  return async (parameters: string[]) => {
    const pool = openPool(readOrganizationDatabaseUrl(process.env), 1);
    try {
      await schemaIsCurrent(pool, organizationMigrations)().catch((error: Error) => {
        throw new CommandError(`The database cannot be used: ${error.message}`);
      });
      await command(pool, parameters, (text) => console.log(text));
    } finally {
      await pool.end();
    }
  };
}
