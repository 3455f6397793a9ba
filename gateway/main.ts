import { createLogger } from "../services/platform/observe/logger.ts";
import { defineCommand } from "../services/platform/process/command.ts";
import { runCommandLine } from "../services/platform/process/command-line.ts";
import { runProcess } from "../services/platform/process/lifecycle.ts";
import { openGateway } from "./app.ts";
import { readGatewayConfig } from "./config.ts";

const serve = defineCommand({
  name: "serve",
  summary: "Runs the gateway until SIGTERM.",
  flags: {},
  example: "",
  run: async () => {
    const config = readGatewayConfig(process.env);
    const logger = createLogger("gateway", config.logLevel);
    await runProcess(logger, config, (lifecycle) => openGateway(config, logger, lifecycle));
  },
});

await runCommandLine([serve]);
