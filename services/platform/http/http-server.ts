import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import { answerHalfClosed } from "./half-open.ts";

/** How long a connection may take, by what it is at. */
export interface HttpTimeouts {
  /** To send the headers of a request. A connection that sends nothing at all has as long. */
  readonly headersMs: number;
  /** To send a request, its body included. */
  readonly requestMs: number;
  /** Between two requests. */
  readonly keepAliveMs: number;
  /** To take any part of an answer. */
  readonly stalledMs: number;
  /** To send the rest of a body that is refused already. */
  readonly lingerMs: number;
  /** How often the first two are looked at. */
  readonly checkMs: number;
}

export const httpTimeouts: HttpTimeouts = {
  headersMs: 20_000,
  // An upload may be slow, but not forever.
  requestMs: 120_000,
  // Longer than load balancers keep theirs, so that it is they who close.
  keepAliveMs: 72_000,
  stalledMs: 30_000,
  lingerMs: 10_000,
  checkMs: 5_000,
};

interface HttpServerOptions {
  readonly timeouts?: HttpTimeouts;
  /** False where the listener refuses requests without a host itself. */
  readonly requireHostHeader?: boolean;
  /** Whether a request of a connection is in flight, where the listener knows already. */
  readonly isBusy?: (socket: Socket) => boolean;
}

/** An HTTP/1.1 server on which no caller can hold a connection for ever. */
export function createHttpServer(listener: RequestListener, options: HttpServerOptions = {}): Server {
  const { timeouts = httpTimeouts, requireHostHeader = true } = options;
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkMs,
    requireHostHeader,
  });
  answerHalfClosed(server);
  const isBusy = options.isBusy ?? busyConnections(server);
  server.on("request", listener);
  server.setTimeout(timeouts.stalledMs, (socket) => {
    // Whose request is being worked on, or still arrives, has other clocks.
    if (socket.writableLength > 0 || !isBusy(socket)) socket.destroy();
  });
  return server;
}

function busyConnections(server: Server): (socket: Socket) => boolean {
  const inFlight = new WeakMap<Socket, number>();
  server.on("request", ({ socket }, response) => {
    inFlight.set(socket, (inFlight.get(socket) ?? 0) + 1);
    response.once("close", () => inFlight.set(socket, (inFlight.get(socket) ?? 1) - 1));
  });
  return (socket) => (inFlight.get(socket) ?? 0) > 0;
}

/** Listens, and returns the port; 0 chooses a free one. */
export function bindHttpServer(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}

const sweepIntervalMs = 50;

/** Takes no more requests, lets those in flight finish, and cuts what is left after the timeout. */
export function closeHttpServer(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
    // A connection stays open after its last answer, for a next request that is not taken any more.
    const sweep = setInterval(() => server.closeIdleConnections(), sweepIntervalMs);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
  });
}
