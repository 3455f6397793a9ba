import { Readable } from "node:stream";
import type { ErrorObject } from "ajv";
import { type FastifyInstance, type FastifyRequest, fastify, LogController } from "fastify";
import type { TObject } from "typebox";
import { invalidRequest } from "../services/platform/domain/domain-error.ts";
import { newId } from "../services/platform/domain/ids.ts";
import { probes } from "../services/platform/http/operations.ts";
import type { Logger } from "../services/platform/observe/logger.ts";
import type { Metrics } from "../services/platform/observe/metrics.ts";
import { saneRequestId } from "../services/platform/observe/request-id.ts";
import type { Health } from "../services/platform/process/health.ts";
import { Access } from "./auth/access.ts";
import { KeyExchange } from "./auth/key-exchange.ts";
import type { Clients } from "./clients/clients.ts";
import type { GatewayConfig } from "./config.ts";
import { answerClientError, answerExpectation, dropBody } from "./http-faults.ts";
import { bodyText } from "./json/body.ts";
import { errorAnswer, HttpError, nothingAt } from "./json/errors.ts";
import { parseQuery } from "./json/query.ts";
import { ajv, queryValidator } from "./json/validator.ts";
import { violationsFrom } from "./json/violations.ts";
import { Limits, type LimitsConfig } from "./limits/limits.ts";
import { describedRoutes } from "./openapi/described-routes.ts";
import { referenceRoutes } from "./openapi/reference.ts";
import { createPresetRoutes } from "./routes/create-presets.ts";
import { memberRoutes } from "./routes/members.ts";
import { withMethodsRefused } from "./routes/other-methods.ts";
import { presetRoutes } from "./routes/presets.ts";
import { versionRoutes } from "./routes/versions.ts";

/** What the REST server is made of. */
interface RestParts {
  readonly config: Pick<GatewayConfig, "requestTimeoutMs"> & LimitsConfig;
  readonly clients: Clients;
  readonly health: Health;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The REST server, not listening yet. */
export async function createRestServer(parts: RestParts): Promise<FastifyInstance> {
  const { config, clients } = parts;
  const app = fastify({
    bodyLimit: config.bodyBytesMax,
    logController: new LogController({ disableRequestLogging: true }),
    // An upload may be slow, but not forever.
    requestTimeout: 120_000,
    // While draining, a request on an open connection is still served; its answer closes the connection.
    forceCloseConnections: "idle",
    return503OnClosing: false,
    http: { requireHostHeader: false },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      const { status, headers, body } = errorAnswer(error, request.id);
      reply.raw.writeHead(status, { ...headers, "x-request-id": request.id, "content-type": "application/json" });
      reply.raw.end(body);
    },
    genReqId: ({ headers }) => saneRequestId(headers["x-request-id"]) ?? newId(),
    routerOptions: {
      ignoreTrailingSlash: true,
      // A slug that is too long must reach its check, so the router has no limit of its own.
      maxParamLength: Number.MAX_SAFE_INTEGER,
      querystringParser: parseQuery,
    },
    schemaErrorFormatter: (errors) => invalidRequest(violationsFrom(errors as ErrorObject[])),
  });
  app.server.on("checkExpectation", answerExpectation);
  // Who has sent a whole request and closed their side is still answered. Node has no public name for this.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  // Bodies and headers are checked by their handlers, and answers are text already.
  // Their schemas are there to be read by people.
  app.setValidatorCompiler(({ schema, httpPart }) => {
    if (httpPart === "body" || httpPart === "headers") return () => true;
    return httpPart === "querystring" ? queryValidator(schema as TObject) : ajv.compile(schema as TObject);
  });
  app.setSerializerCompiler(() => JSON.stringify);
  const limits = new Limits(config, parts.metrics);
  readBodies(app);
  limits.watch(app);
  observe(app, parts);
  answerErrors(app, parts.logger);

  const access = new Access(new KeyExchange(clients.access, config.keyCacheMax), limits, config.requestTimeoutMs);
  const described = describedRoutes(app);
  await withMethodsRefused(app, async () => {
    createPresetRoutes(app, access, clients);
    presetRoutes(app, access, clients);
    versionRoutes(app, access, clients);
    memberRoutes(app, access, clients);
    probeRoutes(app, parts.health);
    referenceRoutes(app, described);
  });
  return app;
}

function probeRoutes(app: FastifyInstance, health: Health): void {
  for (const [path, answer] of Object.entries(probes(health))) {
    // They come by the clock and need not fill the log.
    app.get(path, { logLevel: "debug" }, async (_, reply) => {
      const { status, contentType, body } = await answer();
      return reply.status(status).type(contentType).send(body);
    });
  }
}

function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, async (request: FastifyRequest, bytes: Buffer) =>
    bodyText(bytes, request.headers["content-encoding"]),
  );
}

/** The one place where an error becomes an answer. */
function answerErrors(app: FastifyInstance, logger: Logger): void {
  app.setErrorHandler(async (error, request, reply) => {
    const { status, headers, body } = errorAnswer(error, request.id);
    // What is refused on purpose is counted, and need not fill the log.
    if (status >= 500 && !(error instanceof HttpError))
      logger.error({ err: error, request_id: request.id, status }, "request failed");
    await dropBody(request.raw);
    return reply.status(status).headers(headers).type("application/json").send(body);
  });
  // A hook and not a handler: the body of such a request is not read.
  app.addHook("onRequest", async ({ is404, url }) => {
    if (is404) throw nothingAt(url);
  });
}

/** Request id header, access log and metrics of every request. */
function observe(app: FastifyInstance, { health, logger, metrics }: RestParts): void {
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
  });
  app.addHook("onSend", async (request, reply, payload) => {
    // Fastify does so only for requests that begin while it closes; the others would keep it open.
    if (health.isDraining()) reply.header("connection", "close");
    if (!(payload instanceof Readable)) return;
    // The status has been sent by then, so this line is all that tells of it.
    payload.on("error", (error) => logger.error({ err: error, request_id: request.id }, "answer broke off"));
  });
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "none";
    const status = reply.statusCode;
    metrics.requestHandled(`${request.method} ${route}`, String(status), reply.elapsedTime / 1000);
    logger[request.routeOptions.logLevel === "debug" ? "debug" : "info"](
      { method: request.method, route, status, ms: Math.round(reply.elapsedTime * 100) / 100, request_id: request.id },
      "request",
    );
  });
}
