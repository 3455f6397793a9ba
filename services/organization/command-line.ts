import { onDatabase } from "../platform/mysql/database-command.ts";
import { migrateCommand } from "../platform/mysql/migrate-command.ts";
import { runCommandLine } from "../platform/process/command-line.ts";
import { serveCommand } from "../platform/process/serve-command.ts";
import { openOrganizationService, organizationMigrations } from "./app.ts";
import { addMember } from "./commands/add-member.ts";
import { bootstrap } from "./commands/bootstrap.ts";
import { createConsoleTicket } from "./commands/create-console-ticket.ts";
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

const serve = serveCommand("organization", "the organization service", readOrganizationConfig, openOrganizationService);

const database = {
  readUrl: () => readOrganizationDatabaseUrl(process.env),
  migrations: organizationMigrations,
};

const administration = [
  bootstrap,
  createWorkspace,
  listWorkspaces,
  addMember,
  listMembers,
  removeMember,
  createKey,
  listKeys,
  disableKey,
  enableKey,
  revokeKey,
  createConsoleTicket,
];

await runCommandLine([
  serve,
  migrateCommand(() => readOrganizationMigration(process.env), organizationMigrations),
  ...administration.map((command) => onDatabase(command, database)),
]);
