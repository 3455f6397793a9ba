import { createSocket } from "node:dgram";
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

export const portDefaults: Ports = {
  PORT: 8080,
  METRICS_PORT: 9080,
  PRESET_GRPC_PORT: 50051,
  PRESET_HTTP_PORT: 8081,
  ORGANIZATION_GRPC_PORT: 50052,
  ORGANIZATION_HTTP_PORT: 8082,
  ECHO_PORT: 8083,
};

/**
 * Chooses a port for each purpose. The gateway's, and any that the environment sets, must be free. An internal one that
 * nobody asked for is replaced if it is taken. All of them are reserved as long as this process lives.
 */
export async function choosePorts(environment: NodeJS.ProcessEnv, defaults: Ports = portDefaults): Promise<Ports> {
  const reservations: Server[] = [];
  try {
    const ports = { ...defaults };
    // Each port is held until all are chosen, so that no two are the same. Those that were asked for come first.
    const names = Object.keys(defaults) as (keyof Ports)[];
    const isFixed = (name: keyof Ports): boolean => name === "PORT" || Boolean(environment[name]);
    for (const name of [...names.filter(isFixed), ...names.filter((each) => !isFixed(each))]) {
      const wanted = readPort(name, environment[name]) ?? defaults[name];
      const server = (await reserveIfFree(wanted)) ?? (isFixed(name) ? undefined : await reserveIfFree(0));
      if (!server) throw portTaken(name, wanted);
      reservations.push(server);
      ports[name] = portOf(server);
    }
    return ports;
  } finally {
    await Promise.all(reservations.map(release));
  }
}

/** The preferred port if it is free, otherwise another. It is reserved as long as this process lives. */
export async function findFreePort(preferred = 0): Promise<number> {
  const server = (await reserveIfFree(preferred)) ?? (await reserveIfFree(0));
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

/** Listens on a port. Returns undefined if another process does, or is about to. */
async function reserveIfFree(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, loopbackHost);
  try {
    await once(server, "listening");
  } catch (error) {
    if (isInUse(error)) return undefined;
    throw new StartError(`Port ${port} cannot be used: ${(error as Error).message}`);
  }
  if (await reserve(portOf(server))) return server;
  await release(server);
  // Another start has reserved it, but is not listening yet. If any port will do, the next one may be free.
  return port === 0 ? reserveIfFree(0) : undefined;
}

/**
 * Keeps other starts from choosing the port until our process listens on it, which may be a minute later, and while it
 * is restarted: the port belongs to whoever has bound the UDP port of the same number. That ends with this process,
 * however it ends.
 */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket("udp4").unref();
  try {
    socket.bind(port, loopbackHost);
    await once(socket, "listening");
    return true;
  } catch (error) {
    socket.close();
    if (isInUse(error)) return false;
    throw new StartError(`Port ${port} cannot be reserved: ${(error as Error).message}`);
  }
}

function isInUse(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EADDRINUSE";
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function release(server: Server): Promise<void> {
  server.close();
  await once(server, "close");
}
