import { readTracesConfig, type TracesConfig } from "../observe/traces-config.ts";
import { readTlsFiles, type TlsFiles } from "../rpc/tls.ts";
import type { EnvironmentReader } from "./environment.ts";

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";

/** What every process reads. */
export interface ProcessConfig {
  /** The address that every port of the process is bound to. */
  readonly host: string;
  readonly logLevel: LogLevel;
  /** How long the process goes on serving after SIGTERM, when it says already that it is not ready. */
  readonly shutdownDelayMs: number;
  /** How long calls in flight may take to finish after that. */
  readonly drainTimeoutMs: number;
  /** Undefined: gRPC in clear text. */
  readonly grpcTls: TlsFiles | undefined;
  /** Undefined: no traces are recorded. */
  readonly traces: TracesConfig | undefined;
}

export function readProcessConfig(reader: EnvironmentReader): ProcessConfig {
  return {
    host: reader.text("HOST", "0.0.0.0"),
    logLevel: reader.oneOf("LOG_LEVEL", ["trace", "debug", "info", "warn", "error", "fatal", "silent"], "info"),
    shutdownDelayMs: reader.integer("SHUTDOWN_DELAY_MS", { default: 0, min: 0, max: 600_000 }),
    drainTimeoutMs: reader.integer("DRAIN_TIMEOUT_MS", { default: 15_000, min: 0, max: 600_000 }),
    grpcTls: readTlsFiles(reader),
    traces: readTracesConfig(reader),
  };
}
