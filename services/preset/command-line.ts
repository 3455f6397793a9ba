import { onDatabase } from "../platform/mysql/database-command.ts";
import { migrateCommand } from "../platform/mysql/migrate-command.ts";
import { runCommandLine } from "../platform/process/command-line.ts";
import { serveCommand } from "../platform/process/serve-command.ts";
import { openPresetService, presetMigrations } from "./app.ts";
import { purgeWorkspaceCommand } from "./commands/purge-workspace.ts";
import { readOrganizationAddress, readPresetConfig, readPresetDatabaseUrl, readPresetMigration } from "./config.ts";

const serve = serveCommand("preset", "the preset service", readPresetConfig, openPresetService);

await runCommandLine([
  serve,
  migrateCommand(() => readPresetMigration(process.env), presetMigrations),
  onDatabase(
    purgeWorkspaceCommand(() => readOrganizationAddress(process.env)),
    { readUrl: () => readPresetDatabaseUrl(process.env), migrations: presetMigrations },
  ),
]);
