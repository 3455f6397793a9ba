import { errorCodes, type FastifyInstance } from "fastify";
import { isOfKind } from "../../services/platform/domain/domain-error.ts";
import type { Logger } from "../../services/platform/observe/logger.ts";
import { errorAnswer } from "../json/errors.ts";
import { bodyTooLarge, HttpError, nothingAt } from "../json/http-error.ts";
import { errorShapeOf } from "./error-shape.ts";
import { logNamesOf } from "./log-names.ts";
import type { Refusals } from "./refusals.ts";

/** Answers whatever is thrown for a request, and requests for paths that have no route. */
export function answerErrors(app: FastifyInstance, refusals: Refusals, logger: Logger): void {
  app.setErrorHandler(async (thrown, request, reply) => {
    // Fastify does not say how large it may be.
    const isTooLarge = thrown instanceof errorCodes.FST_ERR_CTP_BODY_TOO_LARGE;
    const error = isTooLarge ? bodyTooLarge(request.routeOptions.bodyLimit) : thrown;
    // Nobody is left to answer: the caller hung up in the middle of their body, or while a call was made for them.
    const isGone = reply.raw.destroyed || request.raw.socket.destroyed;
    if (error === request.raw.errored || (isGone && isOfKind(error, "canceled"))) return reply.hijack();
    const { status, headers, body } = errorAnswer(error, request.id, errorShapeOf(request));
    // What is refused on purpose is counted, and need not fill the log.
    if (status >= 500 && !(error instanceof HttpError))
      logger.error({ err: error, ...logNamesOf(request), status }, "request failed");
    if (request.raw.complete) return reply.status(status).headers(headers).type("application/json").send(body);
    refusals.refuse(reply, error);
    return reply;
  });
  // A hook and not a handler: the body of such a request is not read.
  app.addHook("onRequest", ({ is404, url }, _reply, done) => done(is404 ? nothingAt(url) : undefined));
}
