import type { Socket } from "node:net";
import { afterArrivals } from "../../../services/platform/time/next-turn.ts";

/**
 * Makes a socket read what has arrived before a failed write ends it. Node would end it at once, unread; but an
 * upstream that refuses a large body midway answers, and then resets the connection: the answer arrived before the
 * reset.
 */
export function readBeforeFailedWrite(socket: Socket): void {
  const { destroy } = socket;
  socket.destroy = (error?: NodeJS.ErrnoException) => {
    if (error?.syscall !== "write") return destroy.call(socket, error);
    afterArrivals(() => destroy.call(socket, error));
    return socket;
  };
}
