import { bindHttpServer, closeHttpServer } from "../http/http-server.ts";
import { metricsPage, type Operations, operationsHandler, probes } from "../http/operations.ts";
import type { Logger } from "../observe/logger.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { ProcessConfig } from "../process/config.ts";
import { Health, type ReadinessChecks } from "../process/health.ts";
import type { Lifecycle } from "../process/lifecycle.ts";
import { CallBytes } from "./call-bytes.ts";
import { createConnectServer } from "./connect-server.ts";
import { GrpcServer } from "./grpc-server.ts";
import { serveHealth } from "./health-service.ts";
import type { ServedService } from "./service.ts";

interface ServerOptions extends ProcessConfig {
  readonly grpcPort: number;
  readonly httpPort: number;
  readonly services: readonly ServedService[];
  readonly readinessChecks: ReadinessChecks;
  /** Pages beside probes and metrics. */
  readonly operations: Operations;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Of requests and answers in memory. */
  readonly callBytes?: ConstructorParameters<typeof CallBytes>[0];
}

/** The ports that a service listens on, once bound. */
export interface BoundPorts {
  readonly grpc: number;
  readonly http: number;
}

/** Opens the two servers of a service over one implementation: gRPC, and HTTP/1.1 for Connect, gRPC-Web and operators. */
export async function openServers(lifecycle: Lifecycle, options: ServerOptions): Promise<BoundPorts> {
  const { host, drainTimeoutMs, logger, metrics } = options;
  const health = new Health(options.readinessChecks, () => lifecycle.draining);
  const names = options.services.map(({ descriptor }) => descriptor.typeName);
  const services = [...options.services, serveHealth(health, names, { logger, metrics, isProbe: true })];
  const operations = { ...probes(health), ...metricsPage(metrics), ...options.operations };

  const bytes = new CallBytes(options.callBytes);
  metrics.watchInFlightBytes(bytes.max, () => bytes.used);
  lifecycle.opened("call bytes", () => bytes.close());

  const httpServer = createConnectServer(services, bytes, operationsHandler(operations));
  metrics.showConnections(httpServer);
  const http = await bindHttpServer(httpServer, { host, port: options.httpPort, logger });
  lifecycle.opened("http server", () => closeHttpServer(httpServer, drainTimeoutMs));

  const grpcServer = new GrpcServer(services, logger, bytes);
  const grpc = await grpcServer.listen(host, options.grpcPort, options.grpcTls);
  lifecycle.opened("grpc server", () => grpcServer.close(drainTimeoutMs));

  logger.info({ grpc, http }, "listening");
  return { grpc, http };
}
