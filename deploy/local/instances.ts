import { availableParallelism, totalmem } from "node:os";
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

/** What decides how many processes are worth it. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
  /** Whether several processes may listen on one port. */
  readonly sharesPorts: boolean;
}

const instancesMax = 64;

/** As many as the machine deserves: what is done where nothing is said. */
const auto = "auto";

/** More pay off only under a load that nobody has on a machine where they try something out. */
const autoMax = { gateways: 4, presets: 2 };
const memoryBytesEach = 2 ** 30;

/**
 * The processes of a run: as many of a service as `GATEWAY_PROCESSES` or `PRESET_PROCESSES` says.
 * Gateways share their port; each preset service has its own, and every gateway knows all of them.
 */
export async function planInstances(
  given: NodeJS.ProcessEnv,
  ports: Ports,
  machine: Machine = thisMachine(),
): Promise<Instance[]> {
  const automatic = countsFor(machine);
  const gateways = readCount(given, "GATEWAY_PROCESSES", automatic.gateways);
  const presets = readCount(given, "PRESET_PROCESSES", automatic.presets);
  if (gateways > 1 && !machine.sharesPorts)
    throw new StartError("GATEWAY_PROCESSES must be 1 here: only Linux lets several processes share a port.");
  const morePresets = await times(presets - 1, async () => ({
    PRESET_GRPC_PORT: String(await findFreePort()),
    PRESET_HTTP_PORT: String(await findFreePort()),
  }));
  const grpcPorts = [ports.PRESET_GRPC_PORT, ...morePresets.map(({ PRESET_GRPC_PORT }) => PRESET_GRPC_PORT)];
  const everyGateway = {
    REUSE_PORT: String(gateways > 1),
    PRESET_GRPC_TARGET: grpcPorts.map((port) => `${loopbackHost}:${port}`).join(","),
  };
  const moreGateways = await times(gateways - 1, async () => ({
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

async function times<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let index = 0; index < count; index += 1) made.push(await make());
  return made;
}

function thisMachine(): Machine {
  return {
    cores: availableParallelism(),
    // In a container it may have less than the machine.
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
    sharesPorts: process.platform === "linux",
  };
}

/**
 * A process uses one core. Of what a request costs, about half is spent in the gateway and a third or less in the preset
 * service; the rest is the database's. If there is one gateway, what is changed through it holds with the next
 * request: that is worth more than the tenth that a second one adds on two cores.
 */
function countsFor({ cores, memoryBytes, sharesPorts }: Machine): { gateways: number; presets: number } {
  const byMemory = Math.max(1, Math.floor(memoryBytes / memoryBytesEach));
  const byCores = Math.max(1, Math.floor(cores / 2));
  return {
    gateways: sharesPorts ? Math.min(byCores, byMemory, autoMax.gateways) : 1,
    presets: Math.min(Math.max(1, Math.floor(cores / 4)), byMemory, autoMax.presets),
  };
}

function readCount(given: NodeJS.ProcessEnv, name: string, automatic: number): number {
  const value = given[name]?.trim() || auto;
  const count = value === auto ? automatic : Number(value);
  if (Number.isInteger(count) && count >= 1 && count <= instancesMax) return count;
  throw new StartError(`${name} must be a whole number from 1 to ${instancesMax}, or ${auto}, not "${value}".`);
}
