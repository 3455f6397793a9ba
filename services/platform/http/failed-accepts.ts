import type { Server } from "node:net";
import type { Logger } from "../observe/logger.ts";
import { monotonicMs } from "../time/clock.ts";

const warnEveryMs = 5_000;

/**
 * To be called once a server listens. A connection that cannot be accepted, because no file descriptor or memory is
 * left for it, is an error of the server; without a listener, it would end the process, which can still serve others.
 * There may be thousands in a second, so only some of them are logged. For lack of file descriptors it is rare: libuv
 * keeps one in reserve, closes such connections with it, and does not report them.
 */
export function surviveFailedAccepts(server: Server, logger: Logger): void {
  let failed = 0;
  let nextWarningAtMs = 0;
  server.on("error", ({ message }) => {
    failed += 1;
    if (monotonicMs() < nextWarningAtMs) return;
    nextWarningAtMs = monotonicMs() + warnEveryMs;
    logger.warn({ reason: message, connections: failed }, "connections could not be accepted");
    failed = 0;
  });
}
