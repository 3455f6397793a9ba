import { isSecret } from "../../services/platform/auth/key-format.ts";
import { HttpError } from "../json/http-error.ts";
import type { ConsoleOrigin, ReceivedRequest } from "./console-origin.ts";

/**
 * The cookie with the token of a session. Scripts cannot read it, and it is not sent with requests from other sites.
 */
export class SessionCookie {
  readonly #origin: ConsoleOrigin;

  constructor(origin: ConsoleOrigin) {
    this.#origin = origin;
  }

  /** The token of a request that the console made; undefined if there is no valid one. */
  tokenOf(request: ReceivedRequest): string | undefined {
    const { cookie } = request.headers;
    if (cookie === undefined || !this.#origin.isOwnRequest(request)) return undefined;
    const name = this.#origin.cookieNameFor(request.headers);
    const values = cookie
      .split(";")
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${name}=`))
      .map((pair) => pair.slice(`${name}=`.length));
    const [token = ""] = values;
    // If there are two, one is not ours, and whoever could set it could also choose the order.
    return name !== undefined && values.length === 1 && isSecret("session", token) ? token : undefined;
  }

  /** The `Set-Cookie` that makes the browser keep the token until it is closed. */
  setCookieHeader(request: ReceivedRequest, token: string): string {
    return `${this.#nameFor(request)}=${token}; ${this.#attributesFor(request)}`;
  }

  /** The `Set-Cookie` that makes the browser drop it. */
  clearCookieHeader(request: ReceivedRequest): string {
    return `${this.#nameFor(request)}=; ${this.#attributesFor(request)}; Max-Age=0`;
  }

  /** Throws if it is not possible to sign in with this request. */
  requireOwnRequest(request: ReceivedRequest): void {
    this.#nameFor(request);
    if (this.#origin.isOwnRequest(request)) return;
    throw new HttpError(
      403,
      "Only the console's own page can sign in here, with JSON and the header `x-setpoint-console: 1`. Other clients send their key as a bearer token.",
    );
  }

  #nameFor({ headers }: ReceivedRequest): string {
    const name = this.#origin.cookieNameFor(headers);
    if (name !== undefined) return name;
    throw new HttpError(
      403,
      "Signing in over plain HTTP works only on the machine itself. Serve the gateway over HTTPS, and set PUBLIC_ORIGIN to the address where people open it, such as https://setpoint.example.com.",
    );
  }

  #attributesFor(request: ReceivedRequest): string {
    const attributes = "Path=/; HttpOnly; SameSite=Strict";
    return this.#nameFor(request).startsWith("__Host-") ? `${attributes}; Secure` : attributes;
  }
}
