import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { StartError } from "./start-error.ts";

export const loopbackHost = "127.0.0.1";

/** The ports that the processes listen on, by the variable that each process reads. */
export interface Ports {
  readonly PORT: number;
  readonly METRICS_PORT: number;
  readonly PRESET_GRPC_PORT: number;
  readonly PRESET_HTTP_PORT: number;
  readonly ORGANIZATION_GRPC_PORT: number;
  readonly ORGANIZATION_HTTP_PORT: number;
  readonly ECHO_PORT: number;
}

const portDefaults: Ports = {
  PORT: 8080,
  METRICS_PORT: 9080,
  PRESET_GRPC_PORT: 50051,
  PRESET_HTTP_PORT: 8081,
  ORGANIZATION_GRPC_PORT: 50052,
  ORGANIZATION_HTTP_PORT: 8082,
  ECHO_PORT: 8083,
};

/**
 * Chooses a port for each purpose. The gateway's, and any that the environment names, must be free; an internal one
 * that nobody asked for is replaced where it is taken.
 */
export async function choosePorts(environment: NodeJS.ProcessEnv, defaults: Ports = portDefaults): Promise<Ports> {
  const held: Server[] = [];
  try {
    const ports = { ...defaults };
    // Each is held until all are chosen, so that no two are the same; those that are asked for come first.
    const names = Object.keys(defaults) as (keyof Ports)[];
    const isFixed = (name: keyof Ports): boolean => name === "PORT" || Boolean(environment[name]);
    for (const name of [...names.filter(isFixed), ...names.filter((each) => !isFixed(each))]) {
      const wanted = readPort(name, environment[name]) ?? defaults[name];
      const server = (await hold(wanted)) ?? (isFixed(name) ? undefined : await hold(0));
      if (!server) throw portTaken(name, wanted);
      held.push(server);
      ports[name] = portOf(server);
    }
    return ports;
  } finally {
    await Promise.all(held.map(release));
  }
}

export async function findFreePort(): Promise<number> {
  const server = await hold(0);
  if (!server) throw new StartError(`No port of ${loopbackHost} is free.`);
  const port = portOf(server);
  await release(server);
  return port;
}

function readPort(name: string, value: string | undefined): number | undefined {
  if (!value) return undefined;
  const port = Number(value);
  if (Number.isInteger(port) && port >= 1 && port <= 65535) return port;
  throw new StartError(`${name} must be a whole number from 1 to 65535, not "${value}".`);
}

function portTaken(name: keyof Ports, port: number): StartError {
  const another = port === 8090 ? 8091 : 8090;
  return new StartError(`Port ${port} is in use. Choose another one, for example:  ${name}=${another} npm start`);
}

/** Listens on a port, or returns undefined where somebody else does. */
async function hold(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, loopbackHost);
  try {
    await once(server, "listening");
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return undefined;
    throw new StartError(`Port ${port} cannot be used: ${(error as Error).message}`);
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function release(server: Server): Promise<void> {
  server.close();
  await once(server, "close");
}
