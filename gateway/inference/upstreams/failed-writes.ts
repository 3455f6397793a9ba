import type { Socket } from "node:net";

/**
 * Has a socket read what has come to it before a write that failed ends it. Node would end it at once, unread; but who
 * refuses a large body in the middle of it answers, and resets the connection: the answer came before the reset.
 */
export function readBeforeFailedWrite(socket: Socket): void {
  const { destroy } = socket;
  socket.destroy = (error?: NodeJS.ErrnoException) => {
    if (error?.syscall !== "write") return destroy.call(socket, error);
    // Two turns: in this one, the event loop may have looked already at which sockets can be read.
    setImmediate(() => setImmediate(() => destroy.call(socket, error)));
    return socket;
  };
}
