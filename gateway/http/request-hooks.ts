import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { isPlainTransfer } from "../../services/platform/http/transfer-encoding.ts";
import type { Logger } from "../../services/platform/observe/logger.ts";
import type { Health } from "../../services/platform/process/health.ts";
import type { Exchanges } from "./exchanges.ts";
import { checkHeaders } from "./header-rules.ts";
import type { KnownPaths } from "./known-paths.ts";
import { logIdsOf } from "./log-ids.ts";

/** What is done for every request, whatever its route. */
export function addRequestHooks(
  app: FastifyInstance,
  exchanges: Exchanges,
  knownPaths: KnownPaths,
  health: Health,
  logger: Logger,
): void {
  app.decorateRequest("exchange", undefined);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    if (request.is404) request.knownPath = knownPaths.find(request);
    exchanges.begin(reply, done);
  });
  app.addHook("onRequest", ({ raw }, reply, done) => {
    // Such a body may end only with the connection, so nothing can follow it there.
    if (!isPlainTransfer(raw.headers["transfer-encoding"])) reply.header("connection", "close");
    checkHeaders(raw);
    done();
  });
  app.addHook("onSend", (request, reply, payload, done) => {
    // While draining, a request on an open connection is still served; its answer closes the connection, so that the
    // client, or a load balancer, sends the next one to another gateway.
    if (health.isDraining()) reply.header("connection", "close");
    if (payload instanceof Readable) {
      // The status has already been sent, so only this line shows it.
      payload.on("error", (error) => {
        exchanges.settle(reply, 500);
        logger.error({ err: error, ...logIdsOf(request) }, "answer broke off");
      });
    }
    done();
  });
}
