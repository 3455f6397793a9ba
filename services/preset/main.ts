import { runMigrate } from "../platform/mysql/migrate-command.ts";
import { createLogger } from "../platform/observe/logger.ts";
import { runCommandLine } from "../platform/process/command-line.ts";
import { runProcess } from "../platform/process/lifecycle.ts";
import { openPresetService, presetMigrations } from "./app.ts";
import { readPresetConfig, readPresetMigration } from "./config.ts";

await runCommandLine({
  serve: async () => {
    const config = readPresetConfig(process.env);
    const logger = createLogger("preset", config.logLevel);
    await runProcess(logger, (lifecycle) => openPresetService(config, logger, lifecycle));
  },
  migrate: () => runMigrate(readPresetMigration(process.env), presetMigrations),
});
