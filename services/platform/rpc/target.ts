import type { EnvironmentReader } from "../process/environment.ts";

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** As gRPC has it, the port may be left out. */
const portDefault = 443;

/**
 * The hosts of a target: `host:port`, or several, with commas between them. `dns:///` before a name, as other gRPC
 * clients want it, changes nothing.
 */
export function hostsOfTarget(target: string): HostPort[] {
  return target.split(",").map(hostPortFrom);
}

function hostPortFrom(text: string): HostPort {
  const {
    host,
    ip,
    port = portDefault,
  } = text
    .trim()
    .match(/^(?:(?:dns|ipv4|ipv6):(?:\/\/[^/]*\/)?)?(?:\[(?<ip>[^\]]+)\]|(?<host>[^:]+))(?::(?<port>\d+))?$/)?.groups ??
  {};
  const name = ip ?? host;
  if (name === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new Error(`"${text}" is no gRPC target: it must be host:port or dns:///name:port`);
  return { host: name, port: Number(port) };
}

export function readTarget(reader: EnvironmentReader, name: string, fallback: string): string {
  return readOptionalTarget(reader, name) ?? fallback;
}

/** `meaning` says what it is the target of. */
export function readRequiredTarget(reader: EnvironmentReader, name: string, meaning: string): string {
  reader.required(name, meaning);
  return readOptionalTarget(reader, name) ?? "";
}

export function readOptionalTarget(reader: EnvironmentReader, name: string): string | undefined {
  const target = reader.optional(name);
  try {
    if (target !== undefined) hostsOfTarget(target);
  } catch (error) {
    reader.faults.push(`${name} is not right: ${(error as Error).message}`);
  }
  return target;
}
