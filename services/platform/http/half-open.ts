import type { Server } from "node:http";

/**
 * A client that has sent a whole request and closed its side, as `nc` does, is still answered. Node can do that, and has
 * had a switch for it in all its versions, but no public name: so it is used here and nowhere else, and the test beside
 * this file fails where a version of Node does not know it.
 */
export function answerHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}
