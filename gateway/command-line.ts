import { runCommandLine } from "../services/platform/process/command-line.ts";
import { serveCommand } from "../services/platform/process/serve-command.ts";
import { openGateway } from "./app.ts";
import { readGatewayConfig } from "./config.ts";

const serve = serveCommand("gateway", "the gateway", readGatewayConfig, openGateway);

await runCommandLine([serve]);
