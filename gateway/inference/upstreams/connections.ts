import { isIP, type OnReadOpts, connect as openPlain, type Socket } from "node:net";
import { connect as openTls } from "node:tls";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import { Connection, type ConnectionOwner, type RequestListener } from "./connection.ts";
import { Opening, type OpeningListener } from "./opening.ts";
import { requestHead, type UpstreamRequest } from "./upstream-request.ts";

interface IdleConnection {
  readonly connection: Connection;
  readonly untilMs: number;
}

const sweepMs = 1_000;
/** To notice an upstream that has gone away without closing. */
const keepAliveMs = 60_000;

/** Some upstreams (llama.cpp) close a connection after a stream without announcing it. That shows within this time. */
const cooldownMs = 100;
/** How long after such a close the upstream's connections are rested after each stream, before they are reused. */
const cooldownsForMs = 60_000;

/** The open connections to one upstream, and how many requests are under way on them. */
export class Connections implements ConnectionOwner {
  readonly #origin: URL;
  readonly #hostname: string;
  readonly #connectMs: number;
  readonly #open = new Set<Connection>();
  /** Last in, first out, so that unneeded ones expire. */
  #idle: IdleConnection[] = [];
  #sweepTimer: NodeJS.Timeout | undefined;
  #tlsSession: Buffer | undefined;
  #isRetired = false;
  /** Until then, connections are rested after a stream. */
  #cooldownsUntilMs = Number.NEGATIVE_INFINITY;
  inFlight = 0;

  constructor(origin: string, connectMs: number) {
    this.#origin = new URL(origin);
    // An IPv6 address without its brackets.
    this.#hostname = this.#origin.hostname.replace(/^\[|\]$/g, "");
    this.#connectMs = connectMs;
  }

  /** Sends a request over an idle connection, or over a new one. Throws if one of its headers cannot be sent. */
  dispatch(request: UpstreamRequest, listener: RequestListener): Connection {
    const head = requestHead(request, this.#origin.host);
    const connection = (request.needsNewConnection ? undefined : this.#takeIdle()) ?? this.#openNew();
    connection.send(head, request, listener);
    return connection;
  }

  /** Closes idle connections. Requests in flight continue, and may also be retried. */
  retire(): void {
    this.#isRetired = true;
    for (const { connection } of this.#idle.splice(0)) connection.close();
  }

  /** Closes all, including those with requests in flight. */
  destroy(): void {
    this.retire();
    for (const connection of this.#open) connection.close();
  }

  onIdle(connection: Connection, idleMs: number): void {
    if (monotonicMs() < this.#cooldownsUntilMs && connection.hasStreamedWithin(cooldownMs)) {
      setTimeout(() => this.#keep(connection, idleMs), cooldownMs).unref();
    } else {
      this.#keep(connection, idleMs);
    }
  }

  onClosed(connection: Connection): void {
    if (connection.isClosedByUpstream && connection.hasStreamedWithin(cooldownMs)) {
      this.#cooldownsUntilMs = monotonicMs() + cooldownsForMs;
    }
    this.#open.delete(connection);
    const index = this.#idle.findIndex((idle) => idle.connection === connection);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  #keep(connection: Connection, idleMs: number): void {
    if (!this.#open.has(connection)) return;
    if (this.#isRetired) {
      connection.close();
      return;
    }
    this.#idle.push({ connection, untilMs: monotonicMs() + idleMs });
    this.#sweepTimer ??= setInterval(() => this.#sweep(), sweepMs).unref();
  }

  #takeIdle(): Connection | undefined {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (idle.untilMs > monotonicMs()) return idle.connection;
      idle.connection.close();
    }
    return undefined;
  }

  #sweep(): void {
    const nowMs = monotonicMs();
    const old = this.#idle.filter(({ untilMs }) => untilMs <= nowMs);
    if (old.length > 0) this.#idle = this.#idle.filter(({ untilMs }) => untilMs > nowMs);
    for (const { connection } of old) connection.close();
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweepTimer);
    this.#sweepTimer = undefined;
  }

  #openNew(): Connection {
    const connection = new Connection((onread, listener) => this.#begin(onread, listener), this);
    this.#open.add(connection);
    return connection;
  }

  #begin(onread: OnReadOpts, listener: OpeningListener): Opening {
    const isTls = this.#origin.protocol === "https:";
    const port = Number(this.#origin.port || (isTls ? 443 : 80));
    const connect = (host: string): Socket => {
      const options = { host, port, onread, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs };
      return isTls ? this.#connectTls(options) : openPlain(options);
    };
    const openEvent = isTls ? "secureConnect" : "connect";
    return new Opening({ host: this.#hostname, timeoutMs: this.#connectMs, connect, openEvent }, listener);
  }

  #connectTls(options: { readonly host: string; readonly port: number; readonly onread: OnReadOpts }): Socket {
    const socket = openTls({
      ...options,
      // An address is not sent as a server name. The certificate is still verified against it.
      servername: isIP(this.#hostname) ? "" : this.#hostname,
      ALPNProtocols: ["http/1.1"],
      session: this.#tlsSession,
    });
    return socket.on("session", (session) => {
      this.#tlsSession = session;
    });
  }
}
