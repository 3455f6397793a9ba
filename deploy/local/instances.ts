import { availableParallelism } from "node:os";
import { findFreePort, loopbackHost, type Ports } from "./ports.ts";
import type { ServiceName } from "./services.ts";
import { StartError } from "./start-error.ts";

/** A process of a service, of which there may be several. */
export interface Instance {
  readonly service: ServiceName;
  /** `gateway`, `gateway-2` … */
  readonly name: string;
  /** What this one is told otherwise than the first of its service. */
  readonly environment: Readonly<Record<string, string>>;
}

const instancesMax = 64;

/** One for each core that there is. */
const auto = "auto";

/**
 * The processes of a run: one of each service, so that what a caller changes is seen with the next request, unless `GATEWAY_PROCESSES` or `PRESET_PROCESSES` says how many.
 * Gateways share their port; each preset service has its own, and every gateway knows all of them.
 */
export async function planInstances(given: NodeJS.ProcessEnv, ports: Ports): Promise<Instance[]> {
  const gateways = readCount(given, "GATEWAY_PROCESSES");
  const presets = readCount(given, "PRESET_PROCESSES");
  if (gateways > 1 && process.platform !== "linux")
    throw new StartError("GATEWAY_PROCESSES must be 1 here: only on Linux several processes share a port.");
  const morePresets = await severally(presets - 1, async () => ({
    PRESET_GRPC_PORT: String(await findFreePort()),
    PRESET_HTTP_PORT: String(await findFreePort()),
  }));
  const grpcPorts = [ports.PRESET_GRPC_PORT, ...morePresets.map(({ PRESET_GRPC_PORT }) => PRESET_GRPC_PORT)];
  const everyGateway = {
    REUSE_PORT: String(gateways > 1),
    PRESET_GRPC_TARGET: grpcPorts.map((port) => `${loopbackHost}:${port}`).join(","),
  };
  const moreGateways = await severally(gateways - 1, async () => ({
    ...everyGateway,
    METRICS_PORT: String(await findFreePort()),
  }));
  return [
    { service: "organization", name: "organization", environment: {} },
    { service: "echo", name: "echo", environment: {} },
    ...instancesOf("preset", [{}, ...morePresets]),
    ...instancesOf("gateway", [everyGateway, ...moreGateways]),
  ];
}

function instancesOf(service: ServiceName, environments: readonly Instance["environment"][]): Instance[] {
  return environments.map((environment, index) => ({
    service,
    name: index === 0 ? service : `${service}-${index + 1}`,
    environment,
  }));
}

async function severally<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let index = 0; index < count; index += 1) made.push(await make());
  return made;
}

function readCount(given: NodeJS.ProcessEnv, name: string): number {
  const value = given[name]?.trim() || "1";
  const count = value === auto ? availableParallelism() : Number(value);
  if (Number.isInteger(count) && count >= 1 && count <= instancesMax) return count;
  throw new StartError(`${name} must be a whole number from 1 to ${instancesMax}, or ${auto}, not "${value}".`);
}
