import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import type { WaitingRequests } from "./waiting-requests.ts";

/**
 * Handles the requests of a connection one after the other, each in a turn of the event loop of its own. Node reports
 * all that arrive together at once: hundreds from one caller would keep everyone else waiting.
 */
export function inTurn(listener: RequestListener, waiting: WaitingRequests): RequestListener {
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
      waiting.add();
    } else {
      queues.set(socket, []);
      handle();
    }
  };

  function handleNext(socket: Socket): void {
    setImmediate(() => {
      const queue = queues.get(socket) ?? [];
      if (socket.destroyed) return waiting.remove(queue.splice(0).length);
      const next = queue.shift();
      if (next) waiting.remove(1);
      // Its body may still have to come.
      if (queue.length === 0) socket.resume();
      if (next) next();
      else queues.delete(socket);
    });
  }
}
