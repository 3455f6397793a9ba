import { errorCodes, type FastifyInstance } from "fastify";
import { isOfKind } from "../../services/platform/domain/domain-error.ts";
import type { Logger } from "../../services/platform/observe/logger.ts";
import { errorAnswer } from "../json/errors.ts";
import { bodyTooLarge, HttpError, methodNotTaken, nothingFoundAt } from "../json/http-error.ts";
import { errorShapeOf } from "./error-shape.ts";
import { logIdsOf } from "./log-ids.ts";
import type { Refusals } from "./refusals.ts";

/** Answers everything that is thrown for a request, and requests without a route. */
export function answerErrors(app: FastifyInstance, refusals: Refusals, logger: Logger): void {
  app.setErrorHandler(async (thrown, request, reply) => {
    // Fastify's error does not contain the limit.
    const isTooLarge = thrown instanceof errorCodes.FST_ERR_CTP_BODY_TOO_LARGE;
    const error = isTooLarge ? bodyTooLarge(request.routeOptions.bodyLimit) : thrown;
    // Nobody is left to answer: the caller disconnected while sending its body, or during a call made for it.
    const isGone = reply.raw.destroyed || request.raw.socket.destroyed;
    if (error === request.raw.errored || (isGone && isOfKind(error, "canceled"))) return reply.hijack();
    const { status, headers, body } = errorAnswer(error, request.id, errorShapeOf(request));
    // Deliberate refusals are counted, and need not fill the log.
    if (status >= 500 && !(error instanceof HttpError))
      logger.error({ err: error, ...logIdsOf(request), status }, "request failed");
    if (request.raw.complete) return reply.status(status).headers(headers).type("application/json").send(body);
    refusals.refuse(reply, error);
    return reply;
  });
  // A hook and not a handler: the body of such a request is not read.
  app.addHook("onRequest", ({ is404, url, knownPath }, _reply, done) => {
    if (knownPath) done(methodNotTaken(knownPath.methods));
    else done(is404 ? nothingFoundAt(url) : undefined);
  });
}
