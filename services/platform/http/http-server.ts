import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { Socket } from "node:net";
import { monotonicMs } from "../process/clock.ts";
import { answerHalfClosed } from "./half-open.ts";
import { createServer } from "./node-http.ts";

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

type LatestRequest = (socket: Socket) => IncomingMessage | undefined;

interface HttpServerOptions {
  readonly timeouts?: HttpTimeouts;
  /** False if the listener refuses requests without a host itself. */
  readonly requireHostHeader?: boolean;
  /** The youngest request in flight on a connection, where the listener knows already. */
  readonly latestRequest?: LatestRequest;
}

/** What is known of the connections of a server, for when it closes. */
const connections = new WeakMap<Server, { readonly sockets: Set<Socket>; readonly latestRequest: LatestRequest }>();

/** An HTTP/1.1 server on which no caller can hold a connection for ever. Close it with `closeHttpServer`. */
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
  const latestRequest = options.latestRequest ?? followRequests(server);
  const sockets = new Set<Socket>();
  connections.set(server, { sockets, latestRequest });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", listener);
  server.setTimeout(timeouts.stalledMs, (socket) => {
    // What has come by now is read first: where there is much to do, clocks are looked at before requests that came in time.
    const { bytesRead } = socket;
    setImmediate(() => {
      // With what was read this clock has begun again. An answer to it may be under way by now, or given.
      if (socket.bytesRead !== bytesRead) return;
      // Whose request is being worked on, or still arrives, has other clocks.
      if (socket.writableLength > 0 || !latestRequest(socket)) socket.destroy();
    });
  });
  return server;
}

function followRequests(server: Server): LatestRequest {
  const latest = new WeakMap<Socket, IncomingMessage>();
  server.on("request", (request, response) => {
    const { socket } = request;
    latest.set(socket, request);
    response.once("close", () => {
      if (latest.get(socket) === request) latest.delete(socket);
    });
  });
  return (socket) => latest.get(socket);
}

/** Listens, and returns the port; 0 chooses a free one. With `reusePort`, others that do so too may have the same one. */
export function bindHttpServer(server: Server, host: string, port: number, reusePort = false): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, reusePort }, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}

const sweepIntervalMs = 50;
/** While the server closes, a caller that has not sent a whole request and is silent for this long is not waited for. */
const silenceMs = 1_000;

/** Takes no more requests, lets those in flight finish, and cuts what is left after the timeout. */
export function closeHttpServer(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
    const closeSilent = silentConnections(server);
    const sweep = setInterval(() => {
      // A connection stays open after its last answer, for a next request that is not taken any more.
      server.closeIdleConnections();
      closeSilent();
    }, sweepIntervalMs);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      // Connections tell of their end one turn after their server does, and whoever logs it must still be there.
      setImmediate(() => setImmediate(resolve));
    });
  });
}

/** Returns what closes connections that wait for their caller. Node keeps them, and has stopped its clocks. */
function silentConnections(server: Server): () => void {
  const { sockets = [], latestRequest } = connections.get(server) ?? {};
  const heard = new Map<Socket, { readonly bytes: number; readonly atMs: number }>();
  return () => {
    const nowMs = monotonicMs();
    for (const socket of sockets) {
      const last = heard.get(socket);
      const isOurTurn = latestRequest?.(socket)?.complete ?? false;
      if (isOurTurn || last?.bytes !== socket.bytesRead) heard.set(socket, { bytes: socket.bytesRead, atMs: nowMs });
      else if (nowMs - last.atMs > silenceMs) socket.destroy();
    }
  };
}
