import { type ProcessConfig, readProcessConfig } from "../services/platform/process/config.ts";
import { type Environment, readConfig } from "../services/platform/process/environment.ts";

export interface GatewayConfig extends ProcessConfig {
  readonly port: number;
  readonly metricsPort: number;
  /** gRPC targets of the services: `host:port`, or `dns:///name:port` to use every address behind a name. */
  readonly presetTarget: string;
  readonly organizationTarget: string;
  readonly bodyBytesMax: number;
  /** How long the exchange of a key may take, and the call that follows; what is not answered by then is a 503. */
  readonly requestTimeoutMs: number;
  readonly keyCacheMax: number;
}

export function readGatewayConfig(environment: Environment): GatewayConfig {
  return readConfig(environment, (reader) => ({
    ...readProcessConfig(reader),
    port: reader.port("PORT", 8080),
    metricsPort: reader.port("METRICS_PORT", 9080),
    presetTarget: reader.text("PRESET_GRPC_TARGET", "localhost:50051"),
    organizationTarget: reader.text("ORGANIZATION_GRPC_TARGET", "localhost:50052"),
    bodyBytesMax: reader.integer("BODY_BYTES_MAX", { default: 10 * 1024 * 1024, min: 1024, max: 100 * 1024 * 1024 }),
    requestTimeoutMs: reader.integer("REQUEST_TIMEOUT_MS", { default: 10_000, min: 100, max: 120_000 }),
    keyCacheMax: reader.integer("KEY_CACHE_MAX", { default: 10_000, min: 1, max: 1_000_000 }),
  }));
}
