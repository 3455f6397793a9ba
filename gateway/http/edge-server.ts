import type { RequestListener, Server } from "node:http";
import { createHttpServer, type HttpTimeouts } from "../../services/platform/http/http-server.ts";
import { METHODS } from "../../services/platform/http/node-http.ts";
import type { Exchanges } from "./exchanges.ts";

const methods = new Set<string | undefined>(METHODS);

/** The server that callers outside connect to. */
export function createEdgeServer(listener: RequestListener, exchanges: Exchanges, timeouts: HttpTimeouts): Server {
  const listen: RequestListener = (request, response) => {
    if (methods.has(request.method)) listener(request, response);
    // Where no version stands behind them, Node lets methods of other protocols through.
    else server.emit("clientError", new Error("A method of another protocol"), request.socket);
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
  // It is refused with the rest of what is wrong with headers.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return server;
}
