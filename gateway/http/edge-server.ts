import type { IncomingMessage, RequestListener, Server } from "node:http";
import { createHttpServer, type HttpTimeouts } from "../../services/platform/http/http-server.ts";
import { METHODS } from "../../services/platform/http/node-http.ts";
import type { Exchanges } from "./exchanges.ts";

/** Node's code for a request that ends too early. */
const unexpectedEnd = "HPE_INVALID_EOF_STATE";

/** The code of an error that stands for a CONNECT request. */
export const tunnel = "SETPOINT_TUNNEL";

/** A connection that breaks also closes, which is enough. */
const ignoreError = (): void => {};

const methods = new Set<string | undefined>(METHODS);

/** The server that outside callers connect to. */
export function createEdgeServer(listener: RequestListener, exchanges: Exchanges, timeouts: HttpTimeouts): Server {
  const listen: RequestListener = (request, response) => {
    // In a request line without a version, Node also accepts methods of other protocols.
    if (!methods.has(request.method)) {
      server.emit("clientError", new Error("A method of another protocol"), request.socket);
      return;
    }
    if (request.headers.upgrade !== undefined) watchEnd(server, request);
    listener(request, response);
  };
  const server = createHttpServer(listen, {
    timeouts,
    requireHostHeader: false,
    latestRequest: (socket) => exchanges.latest(socket)?.reply.request.raw,
    waiting: exchanges.waiting,
  });
  // The caller is told to send the body only when it is read, which is after the key was accepted.
  server.on("checkContinue", (request, response) => {
    onceRead(request, () => {
      if (!response.headersSent) response.writeContinue();
    });
    server.emit("request", request, response);
  });
  // Without this, Node would close the connection without an answer.
  server.on("connect", (_request, socket) => {
    // Node has handed it over: nobody reads it or listens for its errors, and such an error would end the process.
    socket.on("error", ignoreError).resume();
    server.emit("clientError", Object.assign(new Error("A tunnel"), { code: tunnel }), socket);
  });
  // An unknown expectation is refused by the header rules.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return server;
}

/** A body is read by letting it flow or, as iterators do, by listening for when it is readable. */
function onceRead(request: IncomingMessage, begin: () => void): void {
  const settle = () => {
    request.off("resume", settle).off("newListener", onListener);
    begin();
  };
  const onListener = (event: string | symbol) => {
    if (event === "readable") settle();
  };
  request.once("resume", settle).on("newListener", onListener);
}

/**
 * We never upgrade to another protocol, but a client may ask for it with any request. Node then does not report a body
 * that ends too early, so the request would wait forever for the rest. It also drops what arrives together with the end
 * of such a request. That cannot be noticed here, and if every such connection were closed after its answer, clients
 * that ask with each request would need a new one each time.
 */
function watchEnd(server: Server, request: IncomingMessage): void {
  const { socket } = request;
  const refuse = () => {
    if (!request.complete)
      server.emit("clientError", Object.assign(new Error("Cut short"), { code: unexpectedEnd }), socket);
  };
  socket.once("end", refuse);
  request.once("close", () => socket.off("end", refuse));
}
