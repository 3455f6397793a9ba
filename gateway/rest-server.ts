import type { ErrorObject } from "ajv";
import { type FastifyInstance, fastify, LogController } from "fastify";
import type { TObject } from "typebox";
import { invalidRequest } from "../services/platform/domain/domain-error.ts";
import { newId } from "../services/platform/domain/ids.ts";
import { violationsFrom } from "../services/platform/json/schema-violations.ts";
import type { Logger } from "../services/platform/observe/logger.ts";
import type { Metrics } from "../services/platform/observe/metrics.ts";
import { saneRequestId } from "../services/platform/observe/request-id.ts";
import type { Tracer } from "../services/platform/observe/trace.ts";
import type { Health } from "../services/platform/process/health.ts";
import { Access } from "./auth/access.ts";
import { ConsoleOrigin } from "./auth/console-origin.ts";
import { InferenceGrants } from "./auth/inference-grants.ts";
import { KeyChanges } from "./auth/key-changes.ts";
import { KeyExchange } from "./auth/key-exchange.ts";
import { SessionCookie } from "./auth/session-cookie.ts";
import type { Clients } from "./clients/clients.ts";
import { ServiceReach } from "./clients/service-reach.ts";
import type { GatewayConfig } from "./config.ts";
import { assetRoutes } from "./console/asset-routes.ts";
import { readAssets } from "./console/assets.ts";
import { sessionRoutes } from "./console/session-routes.ts";
import { AccessLog } from "./http/access-log.ts";
import { createEdgeServer } from "./http/edge-server.ts";
import { answerErrors } from "./http/error-handler.ts";
import { Exchanges } from "./http/exchanges.ts";
import { KnownPaths } from "./http/known-paths.ts";
import { Refusals } from "./http/refusals.ts";
import { addRequestHooks } from "./http/request-hooks.ts";
import { Forwarder } from "./inference/forward/forwarder.ts";
import { StalledAnswers } from "./inference/forward/stalled-answers.ts";
import type { InferenceMetrics } from "./inference/inference-metrics.ts";
import { PresetCache } from "./inference/presets/preset-cache.ts";
import type { Upstreams } from "./inference/upstreams/upstreams.ts";
import { bodyText, readBodies } from "./json/body.ts";
import { parseQuery } from "./json/query.ts";
import { parameterValidator } from "./json/validator.ts";
import { Limits } from "./limits/limits.ts";
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
import { presetRoutes } from "./routes/presets.ts";
import { probeRoutes } from "./routes/probes.ts";
import { resolveRoutes } from "./routes/resolve.ts";
import { versionRoutes } from "./routes/versions.ts";
import { workspaceMemberRoutes } from "./routes/workspace-members.ts";
import { workspaceRoutes } from "./routes/workspaces.ts";

/** The parts of the REST server. */
interface RestParts {
  readonly config: GatewayConfig;
  readonly clients: Clients;
  readonly upstreams: Upstreams;
  readonly inferenceMetrics: InferenceMetrics;
  readonly health: Health;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Undefined: no traces are recorded. */
  readonly tracer?: Tracer | undefined;
}

interface RestServer {
  /** Not listening yet. */
  readonly app: FastifyInstance;
  /** Ends the upstream answers in flight. */
  readonly stopForwarding: () => void;
}

export async function createRestServer(parts: RestParts): Promise<RestServer> {
  const { config, logger, metrics } = parts;
  const accessLog = new AccessLog(logger, metrics);
  const exchanges = new Exchanges(accessLog, parts.tracer);
  const refusals = new Refusals(exchanges, accessLog, config.httpTimeouts.lingerMs);
  const app = createApp(config, exchanges, refusals);
  const limits = new Limits(config, metrics);
  readBodies(app, bodyText);
  limits.watch(app);
  const knownPaths = new KnownPaths(routerOptions);
  knownPaths.watch(app);
  addRequestHooks(app, exchanges, knownPaths, parts.health, logger);
  answerErrors(app, refusals, logger);

  const forwarder = new Forwarder({
    upstreams: parts.upstreams,
    metrics: parts.inferenceMetrics,
    logger,
    stalled: new StalledAnswers(config.inFlightBytesMax),
    isDraining: parts.health.isDraining,
    settle: (reply, status) => exchanges.settle(reply, status),
  });
  await addRoutes(app, parts, limits, forwarder);
  return { app, stopForwarding: () => forwarder.stop() };
}

const routerOptions = {
  ignoreTrailingSlash: true,
  // A slug that is too long must reach its own check, so the router has no limit.
  maxParamLength: Number.MAX_SAFE_INTEGER,
  querystringParser: parseQuery,
};

function createApp(
  { bodyBytesMax, httpTimeouts }: GatewayConfig,
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
    routerOptions,
    schemaErrorFormatter: (errors) => invalidRequest(violationsFrom(errors as ErrorObject[])),
  });
  // Bodies and headers are checked by their handlers, and answers are already text. Their schemas are for
  // documentation.
  app.setValidatorCompiler(({ schema, httpPart }) => {
    return httpPart === "body" || httpPart === "headers" ? () => true : parameterValidator(schema as TObject);
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
  const logFault = (reason: string) => logger.warn({ reason }, "the console is not served");
  assetRoutes(app, readAssets(config.consoleFolder, logFault));
}

/** The organization service counts as out of reach if nothing is heard from it for this long. */
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
