import type { RequestListener } from "node:http";
import type { Socket } from "node:net";

/**
 * Handles the requests of a connection one after the other, each in a turn of the event loop of its own. Node reports
 * all that arrive together at once: hundreds from one caller would keep everyone else waiting.
 */
export function inTurn(listener: RequestListener): RequestListener {
  /** What waits behind the request that is being handled, by connection. */
  const queues = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const handle = () => {
      response.once("close", () => handleNext(socket));
      listener(request, response);
    };
    const queue = queues.get(socket);
    if (queue) {
      // No more are read meanwhile.
      socket.pause();
      queue.push(handle);
    } else {
      queues.set(socket, []);
      handle();
    }
  };

  function handleNext(socket: Socket): void {
    setImmediate(() => {
      if (socket.destroyed) return;
      const queue = queues.get(socket) ?? [];
      const next = queue.shift();
      // Its body may still have to come.
      if (queue.length === 0) socket.resume();
      if (next) next();
      else queues.delete(socket);
    });
  }
}
