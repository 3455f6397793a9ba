import { Readable } from "node:stream";
import type { ErrorObject } from "ajv";
import { errorCodes, type FastifyInstance, type FastifyRequest, fastify, LogController } from "fastify";
import type { TObject } from "typebox";
import { invalidRequest, isOfKind } from "../services/platform/domain/domain-error.ts";
import { newId } from "../services/platform/domain/ids.ts";
import { probes } from "../services/platform/http/operations.ts";
import { violationsFrom } from "../services/platform/json/schema-violations.ts";
import type { Logger } from "../services/platform/observe/logger.ts";
import type { Metrics } from "../services/platform/observe/metrics.ts";
import { saneRequestId } from "../services/platform/observe/request-id.ts";
import type { Tracer } from "../services/platform/observe/trace.ts";
import type { Health } from "../services/platform/process/health.ts";
import { Access } from "./auth/access.ts";
import { InferenceGrants } from "./auth/inference-grants.ts";
import { KeyChanges } from "./auth/key-changes.ts";
import { KeyExchange } from "./auth/key-exchange.ts";
import type { Clients } from "./clients/clients.ts";
import { ServiceReach } from "./clients/service-reach.ts";
import type { GatewayConfig } from "./config.ts";
import { assetRoutes } from "./console/asset-routes.ts";
import { readAssets } from "./console/assets.ts";
import { ConsoleOrigin } from "./console/console-origin.ts";
import { SessionCookie } from "./console/session-cookie.ts";
import { sessionRoutes } from "./console/session-routes.ts";
import { AccessLog } from "./http/access-log.ts";
import { createEdgeServer } from "./http/edge-server.ts";
import { errorShapeOf } from "./http/error-shape.ts";
import { Exchanges } from "./http/exchanges.ts";
import { checkHeaders } from "./http/header-rules.ts";
import { Refusals } from "./http/refusals.ts";
import { Forwarder } from "./inference/forward/forwarder.ts";
import { StalledAnswers } from "./inference/forward/stalled-answers.ts";
import type { InferenceMetrics } from "./inference/inference-metrics.ts";
import { PresetCache, type PresetCacheConfig } from "./inference/presets/preset-cache.ts";
import type { Upstreams } from "./inference/upstreams/upstreams.ts";
import { bodyText } from "./json/body.ts";
import { errorAnswer } from "./json/errors.ts";
import { bodyTooLarge, HttpError, nothingAt } from "./json/http-error.ts";
import { parseQuery } from "./json/query.ts";
import { ajv, queryValidator } from "./json/validator.ts";
import { Limits, type LimitsConfig } from "./limits/limits.ts";
import { describedRoutes } from "./openapi/described-routes.ts";
import { referenceRoutes } from "./openapi/reference.ts";
import { changeRoutes } from "./routes/changes.ts";
import { createPresetRoutes } from "./routes/create-presets.ts";
import { inferenceRoutes } from "./routes/inference.ts";
import { keyRoutes } from "./routes/keys.ts";
import { memberRoutes } from "./routes/members.ts";
import { modelRoutes } from "./routes/models.ts";
import { oneModelRoutes } from "./routes/one-model.ts";
import { organizationChangeRoutes } from "./routes/organization-changes.ts";
import { withMethodsRefused } from "./routes/other-methods.ts";
import { presetRoutes } from "./routes/presets.ts";
import { resolveRoutes } from "./routes/resolve.ts";
import { versionRoutes } from "./routes/versions.ts";
import { workspaceMemberRoutes } from "./routes/workspace-members.ts";
import { workspaceRoutes } from "./routes/workspaces.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Ends the answers of upstreams that are under way. */
    stopForwarding(): void;
  }
}

/** What the REST server is made of. */
interface RestParts {
  readonly config: Pick<
    GatewayConfig,
    "requestTimeoutMs" | "httpTimeouts" | "inferenceBodyBytesMax" | "grantStaleMaxMs" | "publicOrigin" | "consoleFolder"
  > &
    LimitsConfig &
    PresetCacheConfig;
  readonly clients: Clients;
  readonly upstreams: Upstreams;
  readonly inferenceMetrics: InferenceMetrics;
  readonly health: Health;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Undefined: no traces are recorded. */
  readonly tracer?: Tracer | undefined;
}

/** The REST server, not listening yet. */
export async function createRestServer(parts: RestParts): Promise<FastifyInstance> {
  const { config, logger, metrics } = parts;
  const accessLog = new AccessLog(logger, metrics);
  const exchanges = new Exchanges(accessLog, parts.tracer);
  const refusals = new Refusals(exchanges, accessLog, config.httpTimeouts.lingerMs);
  const app = createApp(config, exchanges, refusals);
  const limits = new Limits(config, metrics);
  readBodies(app);
  limits.watch(app);
  observe(app, parts, exchanges);
  answerErrors(app, logger, refusals);

  const forwarder = new Forwarder({
    upstreams: parts.upstreams,
    metrics: parts.inferenceMetrics,
    logger,
    stalled: new StalledAnswers(config.inFlightBytesMax),
    isDraining: parts.health.isDraining,
    settle: (reply, status) => exchanges.settle(reply, status),
  });
  app.decorate("stopForwarding", () => forwarder.stop());
  await addRoutes(app, parts, limits, forwarder);
  return app;
}

function createApp(
  { bodyBytesMax, httpTimeouts }: RestParts["config"],
  exchanges: Exchanges,
  refusals: Refusals,
): FastifyInstance {
  const app = fastify({
    bodyLimit: bodyBytesMax,
    logController: new LogController({ disableRequestLogging: true }),
    serverFactory: (listener) => createEdgeServer(listener, exchanges, httpTimeouts),
    clientErrorHandler: (error, socket) => refusals.answerClientError(error, socket),
    frameworkErrors: (error, _request, reply) => {
      exchanges.begin(reply, () => {});
      refusals.refuse(reply, error);
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
  // Bodies and headers are checked by their handlers, and answers are text already.
  // Their schemas are there to be read by people.
  app.setValidatorCompiler(({ schema, httpPart }) => {
    if (httpPart === "body" || httpPart === "headers") return () => true;
    return httpPart === "querystring" ? queryValidator(schema as TObject) : ajv.compile(schema as TObject);
  });
  app.setSerializerCompiler(() => JSON.stringify);
  return app;
}

async function addRoutes(app: FastifyInstance, parts: RestParts, limits: Limits, forwarder: Forwarder): Promise<void> {
  const { config, clients, upstreams, inferenceMetrics, health, logger, metrics } = parts;
  const cookie = new SessionCookie(new ConsoleOrigin(config.publicOrigin));
  const { access, keyChanges } = openAccess(parts, limits, cookie);
  const presetCache = new PresetCache(clients.presets, config, metrics);
  const described = describedRoutes(app);
  await withMethodsRefused(app, async () => {
    createPresetRoutes(app, access, clients, presetCache);
    await resolveRoutes(app, access, clients, config.inferenceBodyBytesMax);
    presetRoutes(app, access, clients, presetCache);
    versionRoutes(app, access, clients);
    changeRoutes(app, access, clients);
    modelRoutes(app, access, clients, upstreams);
    oneModelRoutes(app, access, clients, upstreams);
    keyRoutes(app, access, keyChanges, clients);
    workspaceRoutes(app, access, keyChanges, clients);
    workspaceMemberRoutes(app, access, clients);
    memberRoutes(app, access, keyChanges, clients);
    organizationChangeRoutes(app, access, clients);
    probeRoutes(app, health);
    await inferenceRoutes(app, access, presetCache, forwarder, inferenceMetrics, config.inferenceBodyBytesMax);
    referenceRoutes(app, described);
    sessionRoutes(app, access, keyChanges, clients, cookie);
    const tellFault = (reason: string) => logger.warn({ reason }, "the console is not served");
    assetRoutes(app, readAssets(config.consoleFolder, tellFault));
  });
}

/** The organization service counts as out of reach where it is not heard of for so long. */
const organizationSilenceMaxMs = 1_000;

function openAccess({ config, clients, metrics }: RestParts, limits: Limits, cookie: SessionCookie) {
  const reach = new ServiceReach(organizationSilenceMaxMs);
  const exchange = new KeyExchange(
    { exchangeKey: (request, options) => reach.watch(clients.access.exchangeKey(request, options)) },
    config.keyCacheMax,
  );
  exchange.counts.show(metrics);
  const inferenceGrants = new InferenceGrants(exchange, reach, config.grantStaleMaxMs, metrics);
  const { requestTimeoutMs } = config;
  return {
    access: new Access({ exchange, inferenceGrants, limits, cookie, requestTimeoutMs }),
    keyChanges: new KeyChanges(exchange),
  };
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
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, ({ headers }, bytes, done) => {
    done(null, bodyText(bytes, headers["content-encoding"]));
  });
}

/** The one place where an error becomes an answer. */
function answerErrors(app: FastifyInstance, logger: Logger, refusals: Refusals): void {
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
      logger.error({ err: error, ...namesOf(request), status }, "request failed");
    if (request.raw.complete) return reply.status(status).headers(headers).type("application/json").send(body);
    refusals.refuse(reply, error);
    return reply;
  });
  // A hook and not a handler: the body of such a request is not read.
  app.addHook("onRequest", ({ is404, url }, _reply, done) => done(is404 ? nothingAt(url) : undefined));
}

/** Request id header, access log and metrics of every request. */
function observe(app: FastifyInstance, { health, logger }: RestParts, exchanges: Exchanges): void {
  app.decorateRequest("exchange", undefined);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    exchanges.begin(reply, done);
  });
  app.addHook("onRequest", ({ raw }, _reply, done) => {
    checkHeaders(raw);
    done();
  });
  app.addHook("onSend", (request, reply, payload, done) => {
    // While draining, a request on an open connection is still served; its answer closes the connection.
    if (health.isDraining()) reply.header("connection", "close");
    if (payload instanceof Readable) {
      // The status has been sent by then, so this line is all that tells of it.
      payload.on("error", (error) => {
        exchanges.settle(reply, 500);
        logger.error({ err: error, ...namesOf(request) }, "answer broke off");
      });
    }
    done();
  });
}

/** What lines of the log name a request by. */
function namesOf({ id, exchange }: FastifyRequest): { request_id: string; trace_id: string | undefined } {
  return { request_id: id, trace_id: exchange?.trace?.traceId };
}
