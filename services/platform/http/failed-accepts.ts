import type { Server } from "node:net";

/**
 * To be called once a server listens. A connection that cannot be accepted, because no file descriptor or memory is
 * left for it, is an error of the server; without a listener, it would end the process, which can still serve others.
 */
export function surviveFailedAccepts(server: Server): void {
  server.on("error", () => {});
}
