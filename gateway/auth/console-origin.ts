import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

/** With this prefix, browsers accept the cookie only over HTTPS and from this host, and send it to no other. */
const secureCookieName = "__Host-setpoint-session";
/** Over plain HTTP, that prefix is not possible. This name is for a gateway on one's own machine. */
const loopbackCookieName = "setpoint-session";

const safeMethods = ["GET", "HEAD"];

/** The part of a request that shows whether the console made it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/** Distinguishes requests of the console itself from those that another page makes a browser send. */
export class ConsoleOrigin {
  /** Where people open the console; undefined means on this machine. */
  readonly #publicOrigin: string | undefined;

  constructor(publicOrigin: string | undefined) {
    this.#publicOrigin = publicOrigin?.startsWith("https:") ? publicOrigin : undefined;
  }

  /** The cookie that is accepted here; undefined if none is, because it would be sent in clear text. */
  cookieNameFor({ host, origin }: IncomingHttpHeaders): string | undefined {
    if (this.#publicOrigin) return secureCookieName;
    // A proxy may set Host to this machine. The address that the browser opened is in its Origin.
    const isHere = isLoopbackHost(host) && (origin === undefined || origin === originOf(host));
    return isHere ? loopbackCookieName : undefined;
  }

  /**
   * Whether the console made the request. Browsers report which page a request comes from, and no page can change that;
   * if a browser does not, its Origin must match. Another port of this machine is the same site, but not the same
   * origin. A request that changes something also needs a header that neither a form nor another origin can send
   * without a preflight.
   */
  isOwnRequest({ method, headers }: ReceivedRequest): boolean {
    const site = headers["sec-fetch-site"];
    const isOwn = site === undefined ? headers.origin === this.#expectedOrigin(headers) : site === "same-origin";
    if (!isOwn || (site === undefined && headers.origin === undefined)) return false;
    return safeMethods.includes(method) || (headers["x-setpoint-console"] === "1" && isJsonOrNothing(headers));
  }

  #expectedOrigin({ host }: IncomingHttpHeaders): string | undefined {
    return this.#publicOrigin ?? (isLoopbackHost(host) ? originOf(host) : undefined);
  }
}

function originOf(host: string | undefined): string {
  return `http://${host}`;
}

function isJsonOrNothing(headers: IncomingHttpHeaders): boolean {
  const { "content-type": type, "content-length": length = "0", "transfer-encoding": encoding } = headers;
  if (type === undefined) return length === "0" && encoding === undefined;
  return /^application\/json\s*(;|$)/i.test(type);
}

/** Whether a name or address, which may have a port, is that of the machine itself. */
export function isLoopbackHost(host = ""): boolean {
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  if (hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]") return true;
  return isIP(hostname) === 4 && hostname.startsWith("127.");
}
