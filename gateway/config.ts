import { join } from "node:path";
import { type HttpTimeouts, httpTimeouts } from "../services/platform/http/http-server.ts";
import { type ProcessConfig, readProcessConfig } from "../services/platform/process/config.ts";
import { type Environment, type EnvironmentReader, readConfig } from "../services/platform/process/environment.ts";
import { readTarget } from "../services/platform/rpc/target.ts";
import { isLoopbackHost } from "./auth/console-origin.ts";
import { isAddressOrRange } from "./limits/client-address.ts";
import type { RateLimit } from "./limits/token-buckets.ts";

const mebibyte = 1024 * 1024;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export interface GatewayConfig extends ProcessConfig {
  readonly port: number;
  readonly metricsPort: number;
  /** gRPC targets of the services: `host:port`, or `dns:///name:port` to use every address behind a name. */
  readonly presetTarget: string;
  readonly organizationTarget: string;
  /** Whether several gateways on a machine share the port; the system assigns each connection to one of them. */
  readonly reusePort: boolean;
  readonly bodyBytesMax: number;
  /** For inference requests, which carry images and long conversations. */
  readonly inferenceBodyBytesMax: number;
  /** How long the key exchange may take, and then the call to a service; after that, 503. */
  readonly requestTimeoutMs: number;
  readonly keyCacheMax: number;
  /**
   * How long a grant remains valid for inference after its token has expired, while the organization service is out of
   * reach; 0: not at all.
   */
  readonly grantStaleMaxMs: number;
  /** For the presets that inference requests use, in memory. */
  readonly presetCacheBytesMax: number;
  /** How old such a preset may be while the preset service is out of reach; 0: it is not used then. */
  readonly presetStaleMaxMs: number;
  /** For keys without a limit of their own; undefined: none. */
  readonly keyRateLimit: RateLimit | undefined;
  /** For refused credentials, by client address; undefined: no limit. */
  readonly refusedKeyRateLimit: RateLimit | undefined;
  /** Addresses and ranges of the proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** Requests in flight for one key. */
  readonly keyRequestsMax: number;
  /** Bytes of bodies and answers in flight. One key may have half of it. */
  readonly inFlightBytesMax: number;
  /** The table of upstreams for inference; undefined: none. */
  readonly upstreamsFile: string | undefined;
  /** Where people open the console, such as `https://setpoint.example.com`; undefined: only on this machine. */
  readonly publicOrigin: string | undefined;
  /** Where the built console is. */
  readonly consoleFolder: string;
  /** For connections from outside. Only the time between two requests can be configured. */
  readonly httpTimeouts: HttpTimeouts;
}

export function readGatewayConfig(environment: Environment): GatewayConfig {
  return readConfig(environment, (reader) => ({
    ...readProcessConfig(reader),
    port: reader.port("PORT", 8080),
    metricsPort: reader.port("METRICS_PORT", 9080),
    reusePort: reader.oneOf("REUSE_PORT", ["true", "false"], "false") === "true",
    presetTarget: readTarget(reader, "PRESET_GRPC_TARGET", "localhost:50051"),
    organizationTarget: readTarget(reader, "ORGANIZATION_GRPC_TARGET", "localhost:50052"),
    ...readByteLimits(reader),
    requestTimeoutMs: reader.integer("REQUEST_TIMEOUT_MS", { default: 10_000, min: 100, max: 120_000 }),
    keyCacheMax: reader.integer("KEY_CACHE_MAX", { default: 10_000, min: 1, max: 1_000_000 }),
    grantStaleMaxMs: reader.integer("GRANT_STALE_MAX_MS", { default: 15 * minuteMs, min: 0, max: 24 * hourMs }),
    presetCacheBytesMax: reader.integer("PRESET_CACHE_BYTES_MAX", {
      default: 32 * mebibyte,
      // A preset of the largest size, prepared for each dialect.
      min: 16 * mebibyte,
      max: 16 * 1024 * mebibyte,
    }),
    presetStaleMaxMs: reader.integer("PRESET_STALE_MAX_MS", { default: 24 * hourMs, min: 0, max: 30 * 24 * hourMs }),
    keyRateLimit: readRateLimit(reader, "KEY_RATE", { perSecond: 0, burst: 0 }),
    refusedKeyRateLimit: readRateLimit(reader, "REFUSED_KEY_RATE", { perSecond: 10, burst: 100 }),
    trustedProxies: readTrustedProxies(reader),
    keyRequestsMax: reader.integer("KEY_REQUESTS_MAX", { default: 1024, min: 1, max: 1_000_000 }),
    upstreamsFile: reader.optionalFile("UPSTREAMS_FILE"),
    publicOrigin: readPublicOrigin(reader),
    consoleFolder: join(import.meta.dirname, "console/dist"),
    httpTimeouts: {
      ...httpTimeouts,
      keepAliveMs: reader.integer("KEEP_ALIVE_TIMEOUT_MS", {
        default: httpTimeouts.keepAliveMs,
        min: 1_000,
        max: hourMs,
      }),
    },
  }));
}

/** A key may have half of the bytes in flight, and that must be enough for the largest body. */
function readByteLimits(
  reader: EnvironmentReader,
): Pick<GatewayConfig, "bodyBytesMax" | "inferenceBodyBytesMax" | "inFlightBytesMax"> {
  const bounds = { min: 1024, max: 100 * mebibyte };
  const bodyBytesMax = reader.integer("BODY_BYTES_MAX", { default: 10 * mebibyte, ...bounds });
  const inferenceBodyBytesMax = reader.integer("INFERENCE_BODY_BYTES_MAX", { default: 32 * mebibyte, ...bounds });
  const min = Math.max(32 * mebibyte, 2 * bodyBytesMax, 2 * inferenceBodyBytesMax);
  const inFlightBytesMax = reader.integer("INFLIGHT_BYTES_MAX", {
    default: Math.max(64 * mebibyte, min),
    min,
    max: 64 * 1024 * mebibyte,
  });
  return { bodyBytesMax, inferenceBodyBytesMax, inFlightBytesMax };
}

/** 0 means no limit. The default burst is a second's worth. */
function readRateLimit(reader: EnvironmentReader, name: string, fallback: RateLimit): RateLimit | undefined {
  const max = 1_000_000;
  const perSecond = reader.integer(`${name}_LIMIT`, { default: fallback.perSecond, min: 0, max });
  const burst = reader.integer(`${name}_BURST`, { default: fallback.burst || perSecond, min: 1, max });
  return perSecond === 0 ? undefined : { perSecond, burst };
}

/** HTTPS, except on this machine: over plain HTTP, anyone in between could read a session cookie. */
function readPublicOrigin(reader: EnvironmentReader): string | undefined {
  const text = reader.optional("PUBLIC_ORIGIN")?.replace(/\/$/, "");
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.origin === text && (url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.host))))
    return text;
  reader.faults.push(
    `PUBLIC_ORIGIN must be where people open the gateway, such as https://setpoint.example.com, and plain HTTP only on this machine itself, not "${text}"`,
  );
  return undefined;
}

function readTrustedProxies(reader: EnvironmentReader): string[] {
  const proxies = reader
    .text("TRUSTED_PROXIES", "")
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);
  const wrong = proxies.find((each) => !isAddressOrRange(each));
  if (wrong === undefined) return proxies;
  reader.faults.push(
    `TRUSTED_PROXIES must be addresses or ranges such as 10.0.0.0/8, separated by commas, not "${wrong}"`,
  );
  return [];
}
