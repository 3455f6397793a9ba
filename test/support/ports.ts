import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that systems hand out to whoever wants any: one of those may be somebody else's by the time that a
 * process listens on it, or is started again.
 */
const first = 20_000;
const sliceSize = 500;
const slices = 24;

/** Test files that run at the same time do so in processes of one parent, each with a slice of its own. */
const slice = (process.ppid * 7 + Number(process.env.VITEST_POOL_ID ?? 0)) % slices;

let next = 0;

/** Those of a local system, each of them any that is free. */
export const anyPorts = {
  PORT: 0,
  METRICS_PORT: 0,
  PRESET_GRPC_PORT: 0,
  PRESET_HTTP_PORT: 0,
  ORGANIZATION_GRPC_PORT: 0,
  ORGANIZATION_HTTP_PORT: 0,
  ECHO_PORT: 0,
};

/** A port that nobody listens on, and that no other test is given meanwhile. */
export async function nextPort(): Promise<number> {
  for (;;) {
    const port = first + slice * sliceSize + (next++ % sliceSize);
    const server = createServer().listen(port);
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
