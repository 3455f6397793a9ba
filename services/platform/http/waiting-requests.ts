import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

/** As many as fit into a packet, if they name a host: one caller alone may send as many as it likes. */
const waitingMax = 2_500;
/** Of each packet, so many are taken all the same. */
const takenMin = 8;

/** What Node's parser is told for a request, so that it stops there; and the error that follows. */
const paused = 21;
export const notTaken = "HPE_PAUSED";

/** The part of Node's parser that is used. */
interface Parser {
  onIncoming: (request: IncomingMessage, keepsAlive: boolean) => number;
}

/**
 * Counts the requests that wait behind others of their connection, of all connections of a server together.
 *
 * Node makes objects for all requests of a packet at once: 64 KiB may hold 2,000, which take 6 MB and a tenth of a
 * second. With a few hundred connections, anybody could stop a server with that. So while too many wait, no more are
 * taken from a packet, and Node reports an error: a gateway then closes the connection once those before are answered, a
 * service at once. The client repeats the others, as HTTP asks of everyone who sends requests ahead. Node has no public
 * way to stop its parser, and all its versions have this one; the test beside this file fails if one does not.
 */
export class WaitingRequests {
  #count = 0;

  /** One more has to wait. */
  add(): void {
    this.#count += 1;
  }

  /** So many do not wait any longer. */
  remove(count: number): void {
    this.#count -= count;
  }

  watch(server: Server): void {
    server.on("connection", (socket: Socket & { readonly parser: Parser }) => {
      const { parser } = socket;
      const take = parser.onIncoming;
      let bytesRead = 0;
      let inPacket = 0;
      parser.onIncoming = (request, keepsAlive) => {
        if (socket.bytesRead !== bytesRead) inPacket = 0;
        bytesRead = socket.bytesRead;
        inPacket += 1;
        return inPacket > takenMin && this.#count >= waitingMax ? paused : take(request, keepsAlive);
      };
    });
  }
}
