import type { Server } from "node:http";

/**
 * A client that has sent a whole request and closed its sending side, as `nc` does, is still answered. Node supports
 * that, and all its versions have a switch for it, but not a public one: so it is used only here, and the test beside
 * this file fails if a version of Node does not know it.
 */
export function answerHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}
