import { bindHttpServer, closeHttpServer, createHttpServer } from "../services/platform/http/http-server.ts";
import { metricsPage, operationsHandler, probes } from "../services/platform/http/operations.ts";
import type { Logger } from "../services/platform/observe/logger.ts";
import { Metrics } from "../services/platform/observe/metrics.ts";
import { openTracer } from "../services/platform/observe/open-tracer.ts";
import { Health } from "../services/platform/process/health.ts";
import type { Lifecycle } from "../services/platform/process/lifecycle.ts";
import { openClients } from "./clients/clients.ts";
import type { GatewayConfig } from "./config.ts";
import { InferenceMetrics } from "./inference/inference-metrics.ts";
import { Upstreams } from "./inference/upstreams/upstreams.ts";
import { createRestServer } from "./rest-server.ts";

/** Opens everything that the gateway is made of and returns its ports; the lifecycle closes it again. */
export async function openGateway(
  config: GatewayConfig,
  logger: Logger,
  lifecycle: Lifecycle,
): Promise<Pick<GatewayConfig, "port" | "metricsPort">> {
  const metrics = new Metrics("gateway");
  const tracer = await openTracer("gateway", { ...config, logger }, lifecycle);
  const clients = openClients(config, lifecycle, metrics);
  const health = new Health([clients.haveBeenReady], () => lifecycle.draining);

  // On a port of its own: metrics are not for the public.
  const metricsServer = createHttpServer(operationsHandler({ ...metricsPage(metrics), ...probes(health) }));
  // A page of metrics is answered at once, so this does not wait as long as for answers of inference.
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

  const rest = await createRestServer({
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
  const port = await bindHttpServer(rest.server, config.host, config.port, config.reusePort);
  lifecycle.opened("rest server", async () => {
    // A moment before connections are cut, so that clients whose answer is still on its way are told.
    const stopMs = Math.max(config.drainTimeoutMs * 0.9, config.drainTimeoutMs - 1_000);
    const stop = setTimeout(() => rest.stopForwarding(), stopMs);
    await closeHttpServer(rest.server, config.drainTimeoutMs);
    clearTimeout(stop);
    await rest.close();
  });
  // Bound last, because probes are answered there, too: where processes share a port, only there do they reach this one.
  const metricsPort = await bindHttpServer(metricsServer, config.host, config.metricsPort);
  // Clients and balancers that keep a connection open find another gateway with their next request.
  lifecycle.stopping(() => {
    rest.server.prependListener("request", (_, response) => response.setHeader("connection", "close"));
  });
  logger.info({ port, metricsPort }, "listening");
  return { port, metricsPort };
}
