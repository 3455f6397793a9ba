import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Below the ephemeral ports: one of those may be taken by the time that a process listens on it, or is restarted. */
const first = 12_000;
const sliceSize = 200;
const slices = 100;

/** The first port of a slice that belongs to this process alone. */
let slice: Promise<number> | undefined;
let next = 0;

/** The ports of a local system, each of them any that is free. */
export const anyPorts = {
  PORT: 0,
  METRICS_PORT: 0,
  PRESET_GRPC_PORT: 0,
  PRESET_HTTP_PORT: 0,
  ORGANIZATION_GRPC_PORT: 0,
  ORGANIZATION_HTTP_PORT: 0,
  ECHO_PORT: 0,
};

/** A port that nobody listens on or has reserved, and that no other test is given meanwhile. */
export async function nextPort(): Promise<number> {
  slice ??= claimSlice();
  const guard = await slice;
  for (;;) {
    const port = guard + 1 + (next++ % (sliceSize - 1));
    const server = await listenOn(port);
    if (!server) continue;
    server.close();
    await once(server, "close");
    if (await isReserved(port)) continue;
    return port;
  }
}

/** Whoever listens on the first port of a slice owns the others, too, as long as it lives, however it ends. */
async function claimSlice(): Promise<number> {
  for (let n = 0; n < slices; n += 1) {
    const guard = first + ((process.pid + n) % slices) * sliceSize;
    const server = await listenOn(guard);
    if (!server) continue;
    server.unref();
    return guard;
  }
  throw new Error(`All ports from ${first} to ${first + slices * sliceSize} are claimed.`);
}

/**
 * Reserved by `npm start`, which holds the UDP port of the same number. Tests of its parts hold it until their process
 * ends.
 */
async function isReserved(port: number): Promise<boolean> {
  const socket = createSocket("udp4");
  socket.bind(port, "127.0.0.1");
  try {
    await once(socket, "listening");
    return false;
  } catch {
    return true;
  } finally {
    socket.close();
  }
}

async function listenOn(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port);
  return once(server, "listening").then(
    () => server,
    () => undefined,
  );
}
