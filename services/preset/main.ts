import { onDatabase } from "../platform/mysql/database-command.ts";
import { migrateCommand } from "../platform/mysql/migrate-command.ts";
import { createLogger } from "../platform/observe/logger.ts";
import { defineCommand } from "../platform/process/command.ts";
import { runCommandLine } from "../platform/process/command-line.ts";
import { runProcess } from "../platform/process/lifecycle.ts";
import { openPresetService, presetMigrations } from "./app.ts";
import { purgeWorkspaceCommand } from "./commands/purge-workspace.ts";
import { readOrganizationAddress, readPresetConfig, readPresetMigration } from "./config.ts";

const serve = defineCommand({
  name: "serve",
  summary: "Runs the preset service until SIGTERM.",
  flags: {},
  example: "",
  run: async () => {
    const config = readPresetConfig(process.env);
    const logger = createLogger("preset", config.logLevel);
    await runProcess(logger, config, (lifecycle) => openPresetService(config, logger, lifecycle));
  },
});

await runCommandLine([
  serve,
  migrateCommand(() => readPresetMigration(process.env), presetMigrations),
  onDatabase(
    purgeWorkspaceCommand(() => readOrganizationAddress(process.env)),
    { readUrl: () => readPresetMigration(process.env).databaseUrl, migrations: presetMigrations },
  ),
]);
