import { createSecureContext } from "node:tls";
import { bindHttpServer, closeHttpServer, createHttpServer } from "../services/platform/http/http-server.ts";
import { inTurn } from "../services/platform/http/in-turn.ts";
import { metricsPage, operationsHandler, probes } from "../services/platform/http/operations.ts";
import { WaitingRequests } from "../services/platform/http/waiting-requests.ts";
import type { Logger } from "../services/platform/observe/logger.ts";
import { Metrics } from "../services/platform/observe/metrics.ts";
import { openTracer } from "../services/platform/observe/open-tracer.ts";
import { Health } from "../services/platform/process/health.ts";
import type { Lifecycle } from "../services/platform/process/lifecycle.ts";
import { renewalIntervalMs, watchCertificates } from "../services/platform/rpc/certificates.ts";
import { tlsOfCalls } from "../services/platform/rpc/tls.ts";
import { openClients } from "./clients/clients.ts";
import type { GatewayConfig } from "./config.ts";
import { InferenceMetrics } from "./inference/inference-metrics.ts";
import { Upstreams } from "./inference/upstreams/upstreams.ts";
import { createRestServer } from "./rest-server.ts";

/** Opens all parts of the gateway and returns its ports; the lifecycle closes them again. */
export async function openGateway(
  config: GatewayConfig,
  logger: Logger,
  lifecycle: Lifecycle,
): Promise<Pick<GatewayConfig, "port" | "metricsPort">> {
  const metrics = new Metrics("gateway");
  const tracer = await openTracer("gateway", { ...config, logger }, lifecycle);
  const clients = openClients(config, lifecycle, metrics);
  const tls = tlsOfCalls(config.grpcTls);
  // Calls read the files themselves. Nothing else would say that they cannot be used, before those in use expire.
  if (tls) {
    lifecycle.opened("certificates", watchCertificates(tls, createSecureContext, renewalIntervalMs, logger));
  }
  const health = new Health({ "the services": clients.haveBeenReady }, () => lifecycle.draining);

  // On a separate port: metrics are not public.
  const waiting = new WaitingRequests();
  const operations = operationsHandler({ ...metricsPage(metrics), ...probes(health) });
  const metricsServer = createHttpServer(inTurn(operations, waiting), { waiting });
  // A metrics page is answered at once, so this need not wait as long as for inference answers.
  const metricsDrainMs = Math.min(config.drainTimeoutMs, 1_000);
  lifecycle.opened("metrics server", () => closeHttpServer(metricsServer, metricsDrainMs));

  const inferenceMetrics = new InferenceMetrics(metrics.registry);
  const upstreams = await Upstreams.open({
    file: config.upstreamsFile,
    environment: process.env,
    logger,
    onCheck: (isGood) => inferenceMetrics.fileChecked(isGood),
  });
  lifecycle.opened("upstreams", () => upstreams.close());
  inferenceMetrics.watchInFlight(() => upstreams.list(), metrics.registry);

  const { app: rest, stopForwarding } = await createRestServer({
    config,
    clients,
    upstreams,
    inferenceMetrics,
    health,
    logger,
    metrics,
    tracer,
  });
  await rest.ready();
  metrics.showConnections(rest.server);
  const port = await bindHttpServer(rest.server, { ...config, logger });
  lifecycle.opened("rest server", async () => {
    // A moment before connections are cut, so that clients whose answer is still in progress are told.
    const stopMs = Math.max(config.drainTimeoutMs * 0.9, config.drainTimeoutMs - 1_000);
    const stop = setTimeout(stopForwarding, stopMs);
    await closeHttpServer(rest.server, config.drainTimeoutMs);
    clearTimeout(stop);
    await rest.close();
  });
  // Bound last, because it also answers probes: if processes share the public port, only this one reaches a particular
  // process.
  const metricsPort = await bindHttpServer(metricsServer, { host: config.host, port: config.metricsPort, logger });
  logger.info({ port, metricsPort }, "listening");
  return { port, metricsPort };
}
