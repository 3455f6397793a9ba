import { runCommand, runProcess } from "../services/platform/lifecycle.ts";
import { createLogger } from "../services/platform/logger.ts";
import { openGateway } from "./app.ts";
import { readGatewayConfig } from "./config.ts";

await runCommand({
  serve: async () => {
    const config = readGatewayConfig(process.env);
    const logger = createLogger("gateway", config.logLevel);
    await runProcess(logger, (lifecycle) => openGateway(config, logger, lifecycle));
  },
});
