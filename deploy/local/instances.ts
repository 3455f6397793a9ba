import { availableParallelism, totalmem } from "node:os";
import { findFreePort, loopbackHost, type Ports } from "./ports.ts";
import type { ServiceName } from "./services.ts";
import { StartError } from "./start-error.ts";

/** One process of a service, which may have several. */
export interface Instance {
  readonly service: ServiceName;
  /** `gateway`, `gateway-2` … */
  readonly name: string;
  /** The variables that differ from those of the first process. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What determines how many processes are worthwhile. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
  /** Whether several processes may listen on one port. */
  readonly sharesPorts: boolean;
}

const instancesMax = 64;

/** As many as suit the machine. This is the default. */
const auto = "auto";

/** More would pay off only under a load that nobody has on a machine for trying things out. */
const autoMax = { gateways: 4, presets: 2 };
const memoryBytesEach = 2 ** 30;

/**
 * The processes of a run: as many of a service as `GATEWAY_PROCESSES` or `PRESET_PROCESSES` says. Gateways share their
 * port; each preset service has its own, and every gateway knows all of them.
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
    // A container may have less memory than the machine.
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
    sharesPorts: process.platform === "linux",
  };
}

/**
 * A process uses one core. About half of the cost of a request arises in the gateway, and a third or less in the preset
 * service; the rest is the database's. With a single gateway, a change that is made through it applies to the next
 * request: that is worth more than the ten percent that a second one adds on two cores.
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
