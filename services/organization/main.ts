import { schemaIsCurrent } from "../platform/mysql/migrate.ts";
import { runMigrate } from "../platform/mysql/migrate-command.ts";
import { openPool, type Pool } from "../platform/mysql/pool.ts";
import { createLogger } from "../platform/observe/logger.ts";
import { CommandError, runCommandLine } from "../platform/process/command-line.ts";
import { runProcess } from "../platform/process/lifecycle.ts";
import { openOrganizationService, organizationMigrations } from "./app.ts";
import { addMember } from "./commands/add-member.ts";
import { bootstrap } from "./commands/bootstrap.ts";
import { createKey } from "./commands/create-key.ts";
import { createWorkspace } from "./commands/create-workspace.ts";
import { disableKey } from "./commands/disable-key.ts";
import { enableKey } from "./commands/enable-key.ts";
import { listKeys } from "./commands/list-keys.ts";
import { listMembers } from "./commands/list-members.ts";
import { listWorkspaces } from "./commands/list-workspaces.ts";
import { removeMember } from "./commands/remove-member.ts";
import { revokeKey } from "./commands/revoke-key.ts";
import { readOrganizationConfig, readOrganizationDatabaseUrl, readOrganizationMigration } from "./config.ts";

await runCommandLine({
  serve: async () => {
    const config = readOrganizationConfig(process.env);
    const logger = createLogger("organization", config.logLevel);
    await runProcess(logger, (lifecycle) => openOrganizationService(config, logger, lifecycle));
  },
  migrate: () => runMigrate(readOrganizationMigration(process.env), organizationMigrations),
  bootstrap: onDatabase(bootstrap),
  "create-workspace": onDatabase(createWorkspace),
  "list-workspaces": onDatabase(listWorkspaces),
  "add-member": onDatabase(addMember),
  "list-members": onDatabase(listMembers),
  "remove-member": onDatabase(removeMember),
  "create-key": onDatabase(createKey),
  "list-keys": onDatabase(listKeys),
  "disable-key": onDatabase(disableKey),
  "enable-key": onDatabase(enableKey),
  "revoke-key": onDatabase(revokeKey),
});

/** A command of the administrator returns what there is to print, once all of it is stored. */
function onDatabase(command: (pool: Pool, parameters: string[]) => Promise<string>) {
  return async (parameters: string[]) => {
    const pool = openPool(readOrganizationDatabaseUrl(process.env), 1);
    try {
      await schemaIsCurrent(pool, organizationMigrations)().catch((error: Error) => {
        throw new CommandError(`The database cannot be used: ${error.message}`);
      });
      console.log(await command(pool, parameters));
    } finally {
      await pool.end();
    }
  };
}
