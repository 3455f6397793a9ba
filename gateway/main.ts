import { createLogger } from "../services/platform/observe/logger.ts";
import { runCommandLine } from "../services/platform/process/command-line.ts";
import { runProcess } from "../services/platform/process/lifecycle.ts";
import { openGateway } from "./app.ts";
import { readGatewayConfig } from "./config.ts";

await runCommandLine({
  serve: async () => {
    const config = readGatewayConfig(process.env);
    const logger = createLogger("gateway", config.logLevel);
    await runProcess(logger, (lifecycle) => openGateway(config, logger, lifecycle));
  },
});
