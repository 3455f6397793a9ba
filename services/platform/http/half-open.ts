import type { Server } from "node:http";
import type { Socket } from "node:net";
import { afterArrivals } from "../time/next-turn.ts";

/**
 * A client that has sent a whole request and closed its sending side, as `nc` does, is still answered. Node supports
 * that, and all its versions have a switch for it, but not a public one: so it is used only here, and the test beside
 * this file fails if a version of Node does not know it.
 *
 * A client that has gone looks the same, and mostly has: work for it would only delay others. So one that is sent
 * nothing for a second counts as gone.
 */
export function answerHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket) => {
    socket.once("end", () => closeUnlessAnswered(socket));
  });
}

/** A second, in steps: one in which this process was stalled counts as one, however long it took. */
const [stepMs, silentSteps] = [100, 10];

function closeUnlessAnswered(socket: Socket): void {
  let sent = socket.bytesWritten;
  let silent = 0;
  const look = (): void => {
    // What is on its way to a slow reader has other time limits.
    silent = socket.bytesWritten === sent && socket.writableLength === 0 ? silent + 1 : 0;
    sent = socket.bytesWritten;
    if (silent === silentSteps) socket.destroy();
  };
  // After a stall, the answer of a service may have arrived without having been read.
  const timer = setInterval(() => afterArrivals(look), stepMs).unref();
  socket.once("close", () => clearInterval(timer));
}
