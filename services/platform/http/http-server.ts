import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../observe/logger.ts";
import { monotonicMs } from "../time/clock.ts";
import { surviveFailedAccepts } from "./failed-accepts.ts";
import { GatheredRequest } from "./gathered-request.ts";
import { answerHalfClosed } from "./half-open.ts";
import { createServer } from "./node-http.ts";
import type { WaitingRequests } from "./waiting-requests.ts";

/** The time limits of a connection, by phase. */
export interface HttpTimeouts {
  /** For the headers of a request. A connection that sends nothing at all has the same time. */
  readonly headersMs: number;
  /** To send a request, its body included. */
  readonly requestMs: number;
  /** Between two requests. */
  readonly keepAliveMs: number;
  /** For the client to read any part of an answer. */
  readonly stalledMs: number;
  /** For the rest of a body that was already refused. */
  readonly lingerMs: number;
  /** How often the first two are checked. */
  readonly checkMs: number;
}

export const httpTimeouts: HttpTimeouts = {
  headersMs: 20_000,
  // An upload may be slow, but not forever.
  requestMs: 120_000,
  // Longer than load balancers keep idle connections, so that they close first.
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
  /** The youngest request in flight on a connection, if the listener tracks it. */
  readonly latestRequest?: LatestRequest;
  /** Those that the listener lets wait behind others of their connection. */
  readonly waiting?: WaitingRequests;
}

/** The connections of a server, for when it closes. */
const connections = new WeakMap<Server, { readonly sockets: Set<Socket>; readonly latestRequest: LatestRequest }>();

/** An HTTP/1.1 server on which no caller can hold a connection forever. Close it with `closeHttpServer`. */
export function createHttpServer(listener: RequestListener, options: HttpServerOptions = {}): Server {
  const { timeouts = httpTimeouts, requireHostHeader = true } = options;
  const server = createServer({
    IncomingMessage: GatheredRequest,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkMs,
    requireHostHeader,
  });
  answerHalfClosed(server);
  options.waiting?.watch(server);
  const latestRequest = options.latestRequest ?? followRequests(server);
  const sockets = new Set<Socket>();
  connections.set(server, { sockets, latestRequest });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", listener);
  server.setTimeout(timeouts.stalledMs, (socket) => {
    // First reads what has arrived: under load, timers run before requests that arrived in time are read.
    const { bytesRead } = socket;
    setImmediate(() => {
      // The data that was read restarted the timeout. Its answer may be in progress by now, or sent.
      if (socket.bytesRead !== bytesRead) return;
      // A request that is being processed, or still arriving, has other time limits.
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

interface Binding {
  readonly host: string;
  /** 0 chooses a free one. */
  readonly port: number;
  /** Others that do so too may have the same port. */
  readonly reusePort?: boolean;
  readonly logger: Logger;
}

/** Listens, and returns the port. */
export function bindHttpServer(server: Server, { host, port, reusePort = false, logger }: Binding): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, reusePort }, () => {
      server.off("error", reject);
      surviveFailedAccepts(server, logger);
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}

const sweepIntervalMs = 50;
/**
 * While the server closes, it does not wait for a caller that has not sent a whole request and is silent for this long.
 */
const silenceMs = 1_000;

/** Takes no more requests, lets those in flight finish, and cuts what is left after the timeout. */
export function closeHttpServer(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const forceCloseTimer = setTimeout(() => server.closeAllConnections(), timeoutMs);
    const closeSilent = silentConnectionCloser(server);
    const sweep = setInterval(() => {
      // A connection stays open after its last answer, for a next request that is no longer accepted.
      server.closeIdleConnections();
      closeSilent();
    }, sweepIntervalMs);
    server.close(() => {
      clearTimeout(forceCloseTimer);
      clearInterval(sweep);
      // Connections report their end one turn after their server does, and whoever logs it must still be there.
      setImmediate(() => setImmediate(resolve));
    });
  });
}

/**
 * Returns a function that closes connections that wait for their caller. Node keeps them, and has stopped its timers.
 */
function silentConnectionCloser(server: Server): () => void {
  const { sockets = [], latestRequest } = connections.get(server) ?? {};
  const lastReceived = new Map<Socket, { readonly bytes: number; readonly atMs: number }>();
  return () => {
    const nowMs = monotonicMs();
    for (const socket of sockets) {
      const last = lastReceived.get(socket);
      const isAwaitingOurAnswer = latestRequest?.(socket)?.complete ?? false;
      if (isAwaitingOurAnswer || last?.bytes !== socket.bytesRead)
        lastReceived.set(socket, { bytes: socket.bytesRead, atMs: nowMs });
      else if (nowMs - last.atMs > silenceMs) socket.destroy();
    }
  };
}
