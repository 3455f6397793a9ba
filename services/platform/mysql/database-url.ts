import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { ConnectionOptions, SslOptions } from "mysql2";
import type { EnvironmentReader } from "../process/environment.ts";

/** The parameters of a URL that mysql2 does not know; named as the clients of MySQL name them. */
const tlsParameters = ["ssl-mode", "ssl-ca", "ssl-cert", "ssl-key"] as const;

const syncWaitParameter = "wsrep-sync-wait";
const protocolParameter = "protocol";

/** How statements with values are sent to the database. */
export type Protocol = "prepared" | "text";

/** What a URL says about how to connect. Throws if its TLS parameters are wrong; the message holds no secret. */
export function connectionOptions(url: string): ConnectionOptions {
  const parsed = new URL(url);
  const ssl = tlsOptions(parsed);
  for (const name of ["ssl", ...tlsParameters, syncWaitParameter, protocolParameter]) parsed.searchParams.delete(name);
  return ssl ? { uri: parsed.href, ssl } : { uri: parsed.href };
}

/**
 * The session settings that a URL asks for. On Galera a node may lag behind what another has acknowledged; with
 * `wsrep-sync-wait=1`, reads and transactions first wait for everything that was committed before them, on any node.
 */
export function sessionStatements(url: string): string[] {
  const value = new URL(url).searchParams.get(syncWaitParameter);
  if (value === null) return [];
  // The kinds of statements that wait, as bits.
  if (!/^([0-9]|1[0-5])$/.test(value)) throw new Error(`its parameter ${syncWaitParameter} must be 0 to 15`);
  return [`SET SESSION wsrep_sync_wait = ${value}`];
}

/**
 * `protocol=text` is for Vitess: preparing a statement inside a transaction there opens a connection to an arbitrary
 * shard, and the next write to another one fails.
 */
export function protocolOf(url: string): Protocol {
  const value = new URL(url).searchParams.get(protocolParameter) ?? "prepared";
  if (value !== "prepared" && value !== "text")
    throw new Error(`its parameter ${protocolParameter} must be prepared or text`);
  return value;
}

/**
 * With TLS, the certificate must be valid and name the host. mysql2 by itself would accept any name, and so any
 * certificate of the same authority.
 */
function tlsOptions({ hostname, searchParams }: URL): SslOptions | undefined {
  const mode = searchParams.get("ssl-mode");
  if (mode?.toUpperCase() === "DISABLED" || !["ssl", ...tlsParameters].some((name) => searchParams.has(name))) {
    return undefined;
  }
  // It would look for the name "localhost" in the certificate instead.
  if (isIP(hostname.replaceAll(/[[\]]/g, "")) !== 0)
    throw new Error("TLS needs the host name that is in the server's certificate, not an IP address");
  return {
    verifyIdentity: true,
    ...sslObject(searchParams.get("ssl")),
    ...fileAt(searchParams, "ssl-ca", "ca"),
    ...fileAt(searchParams, "ssl-cert", "cert"),
    ...fileAt(searchParams, "ssl-key", "key"),
  };
}

/** The parameter that mysql2 takes: an object of its options as JSON, or just true. */
function sslObject(text: string | null): SslOptions {
  if (text === null || text === "true") return {};
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Reported below.
  }
  throw new Error("its parameter ssl must be true or an object in JSON; the file of a certificate authority is ssl-ca");
}

function fileAt(parameters: URLSearchParams, name: string, option: "ca" | "cert" | "key"): SslOptions {
  const file = parameters.get(name);
  if (file === null) return {};
  try {
    return { [option]: readFileSync(file, "utf8") };
  } catch (error) {
    throw new Error(`its file ${name} cannot be read: ${(error as Error).message}`);
  }
}

export function readDatabaseUrl(reader: EnvironmentReader, name: string, meaning: string): string {
  reader.required(name, meaning);
  return readOptionalDatabaseUrl(reader, name) ?? "";
}

/**
 * Adds the parameters that all databases of the process share, so that a Secret need not contain them. The URL's own
 * take precedence.
 */
export function readOptionalDatabaseUrl(reader: EnvironmentReader, name: string): string | undefined {
  const given = reader.optionalUrl(name, ["mysql:"]);
  const common = new URLSearchParams(reader.optional("DATABASE_URL_PARAMETERS"));
  if (given === undefined || !URL.canParse(given)) return given;
  const url = common.size === 0 ? given : withParameters(given, common);
  try {
    checkParts(new URL(url));
    connectionOptions(url);
    sessionStatements(url);
    protocolOf(url);
  } catch (error) {
    reader.faults.push(`${name} is not right: ${(error as Error).message}`);
  }
  return url;
}

/**
 * Refuses what mysql2 would accept but misread, using another server, no database or no TLS: it ignores parameters
 * under other drivers' names, such as `sslMode`.
 */
function checkParts({ hostname, pathname, username, password, searchParams }: URL): void {
  if (hostname === "" || pathname.length < 2)
    throw new Error("it must name a host and a database, as in mysql://user:password@host/database");
  if (![username, password, pathname].every(isPercentEncoded))
    throw new Error("a % in its user name or password must be written as %25");
  const known: readonly string[] = ["ssl", ...tlsParameters];
  const unknown = [...searchParams.keys()].find((name) => /ssl|tls/i.test(name) && !known.includes(name));
  if (unknown !== undefined)
    throw new Error(`its parameter ${unknown} is not known; TLS is asked for with ${tlsParameters.join(", ")}`);
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function withParameters(text: string, parameters: URLSearchParams): string {
  const url = new URL(text);
  for (const [name, value] of parameters) if (!url.searchParams.has(name)) url.searchParams.set(name, value);
  return url.href;
}
