import { migrate } from "../platform/mysql/migrate.ts";
import { createLogger } from "../platform/observe/logger.ts";
import { runCommandLine } from "../platform/process/command-line.ts";
import { runProcess } from "../platform/process/lifecycle.ts";
import { openPresetService, presetMigrations } from "./app.ts";
import { readPresetConfig, readPresetDatabaseUrl } from "./config.ts";

await runCommandLine({
  serve: async () => {
    const config = readPresetConfig(process.env);
    const logger = createLogger("preset", config.logLevel);
    await runProcess(logger, (lifecycle) => openPresetService(config, logger, lifecycle));
  },
  migrate: async () => {
    const applied = await migrate(readPresetDatabaseUrl(process.env), presetMigrations, (name) =>
      console.log(`applying ${name}`),
    );
    console.log(applied.length > 0 ? `${applied.length} migrations applied` : "the schema is current");
  },
});
