import { validateHeaderName, validateHeaderValue } from "../http/node-http.ts";
import type { EnvironmentReader } from "../process/environment.ts";

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** Where traces are sent, and which of them. */
export interface TracesConfig {
  /** Of the collector, for traces alone. */
  readonly url: string;
  /** May hold a credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sampler: (typeof samplers)[number];
  /** For ratio samplers: the ratio. */
  readonly samplerRatio: number;
  /** Undefined: the name of the process. */
  readonly serviceName: string | undefined;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  /** How long spans are collected before they are sent. */
  readonly sendEveryMs: number;
}

/** OpenTelemetry's standard variables. Undefined if none says where to send traces. */
export function readTracesConfig(reader: EnvironmentReader): TracesConfig | undefined {
  const endpoint = reader.optionalUrl("OTEL_EXPORTER_OTLP_ENDPOINT", ["http:", "https:"]);
  const config = {
    url: `${endpoint?.replace(/\/+$/, "")}/v1/traces`,
    headers: readHeaders(reader, "OTEL_EXPORTER_OTLP_HEADERS"),
    sampler: reader.oneOf("OTEL_TRACES_SAMPLER", samplers, "parentbased_always_on"),
    samplerRatio: readRatio(reader, "OTEL_TRACES_SAMPLER_ARG"),
    serviceName: reader.optional("OTEL_SERVICE_NAME"),
    resourceAttributes: readPairs(reader, "OTEL_RESOURCE_ATTRIBUTES"),
    sendEveryMs: reader.integer("OTEL_BSP_SCHEDULE_DELAY", { default: 5_000, min: 1, max: 600_000 }),
  };
  return endpoint === undefined ? undefined : config;
}

function readRatio(reader: EnvironmentReader, name: string): number {
  const text = reader.optional(name);
  const ratio = text === undefined ? 1 : Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  reader.faults.push(`${name} must be a number from 0 to 1, not "${text}"`);
  return 1;
}

function readHeaders(reader: EnvironmentReader, name: string): Record<string, string> {
  const headers = readPairs(reader, name);
  try {
    for (const [header, value] of Object.entries(headers)) {
      validateHeaderName(header);
      validateHeaderValue(header, value);
    }
  } catch {
    reader.faults.push(`${name} must be headers: a name or a value has a character that none may have`);
  }
  return headers;
}

/** `a=1,b=2`, percent-encoded where necessary. A value may be a secret, so a fault names only the variable. */
function readPairs(reader: EnvironmentReader, name: string): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const pair of reader.text(name, "").split(",")) {
    if (pair.trim() === "") continue;
    const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    const decoded = decode(value);
    if (key !== undefined && decoded !== undefined) pairs[key] = decoded;
    else reader.faults.push(`${name} must be pairs such as name=value, separated by commas`);
  }
  return pairs;
}

function decode(value: string | undefined): string | undefined {
  try {
    return value === undefined ? undefined : decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
