import { createLogger, type Logger } from "../observe/logger.ts";
import { type Command, defineCommand } from "./command.ts";
import type { ProcessConfig } from "./config.ts";
import type { Environment } from "./environment.ts";
import { type Lifecycle, runProcess } from "./lifecycle.ts";

/** The command that runs a process until SIGTERM. `readConfig` is called only to run it. */
export function serveCommand<Config extends ProcessConfig>(
  processName: string,
  title: string,
  readConfig: (environment: Environment) => Config,
  open: (config: Config, logger: Logger, lifecycle: Lifecycle) => Promise<unknown>,
): Command {
  return defineCommand({
    name: "serve",
    summary: `Runs ${title} until SIGTERM.`,
    flags: {},
    example: "",
    run: async () => {
      const config = readConfig(process.env);
      const logger = createLogger(processName, config.logLevel);
      await runProcess(logger, config, (lifecycle) => open(config, logger, lifecycle));
    },
  });
}
