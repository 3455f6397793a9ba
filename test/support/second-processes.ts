import { openGateway } from "../../gateway/app.ts";
import type { GatewayConfig } from "../../gateway/config.ts";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import type { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { openPresetService } from "../../services/preset/app.ts";
import type { Stack } from "./stack.ts";

/** Opens another gateway in front of a stack's services, and returns its address. It ends with the lifecycle. */
export async function openSecondGateway(
  { gateway }: Stack,
  lifecycle: Lifecycle,
  change: Partial<GatewayConfig> = {},
): Promise<string> {
  const config = { ...gateway.config, port: 0, metricsPort: 0, ...change };
  const { port } = await openGateway(config, silentLogger(), lifecycle);
  return `http://127.0.0.1:${port}`;
}

/** Opens another preset service on a stack's database. The stack's gateway then alternates between the two. */
export async function openSecondPresetService({ preset, gateway }: Stack, lifecycle: Lifecycle): Promise<void> {
  const config = { ...preset.config, grpcPort: 0, httpPort: 0 };
  const { grpc } = await openPresetService(config, silentLogger(), lifecycle);
  const addresses = [preset.config.grpcPort, grpc].map((port) => `127.0.0.1:${port}`);
  await gateway.stop();
  await gateway.start({ presetTarget: addresses.join(",") });
}
