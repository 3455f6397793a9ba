import type { IncomingMessage, RequestListener, Server } from "node:http";
import { createHttpServer, type HttpTimeouts } from "../../services/platform/http/http-server.ts";
import { METHODS } from "../../services/platform/http/node-http.ts";
import type { Exchanges } from "./exchanges.ts";

/** As Node has it. */
const earlyEnd = "HPE_INVALID_EOF_STATE";

/** The code of a request for a tunnel, in the place of Node's. */
export const tunnel = "SETPOINT_TUNNEL";

const methods = new Set<string | undefined>(METHODS);

/** The server that callers outside connect to. */
export function createEdgeServer(listener: RequestListener, exchanges: Exchanges, timeouts: HttpTimeouts): Server {
  const listen: RequestListener = (request, response) => {
    // Where no version stands behind them, Node lets methods of other protocols through.
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
  });
  // Asked for the body only once it is read, so after the key was accepted.
  server.on("checkContinue", (request, response) => {
    request.once("resume", () => {
      if (!response.headersSent) response.writeContinue();
    });
    server.emit("request", request, response);
  });
  // Node would close the connection without a word.
  server.on("connect", (_request, socket) => {
    server.emit("clientError", Object.assign(new Error("A tunnel"), { code: tunnel }), socket);
  });
  // It is refused with the rest of what is wrong with headers.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return server;
}

/**
 * Nobody here goes on with another protocol, as clients may ask with any request. But from there on Node says nothing of what
 * is wrong with the body, so that one which ends too early would be waited for.
 */
function watchEnd(server: Server, request: IncomingMessage): void {
  const { socket } = request;
  const refuse = () => {
    if (!request.complete)
      server.emit("clientError", Object.assign(new Error("Cut short"), { code: earlyEnd }), socket);
  };
  socket.once("end", refuse);
  request.once("close", () => socket.off("end", refuse));
}
