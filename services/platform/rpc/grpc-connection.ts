import { type ClientHttp2Session, connect } from "node:http2";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { Code } from "@connectrpc/connect";
import { monotonicMs } from "../process/clock.ts";
import { readCertificates } from "./certificates.ts";
import { type CallListener, GrpcCall } from "./grpc-call.ts";
import { keepAlive } from "./keepalive.ts";
import type { TlsFiles } from "./tls.ts";

/** An answer to a batch is often larger than what HTTP/2 lets a server send before it waits for the client. */
const flowControlWindow = 4 * 1024 * 1024;
/** A peer that takes a connection and says nothing counts as not there. */
const greetingTimeoutMs = 10_000;
/** A process that restarts is back within a second; do not stay away longer than needed. */
const pauseFirstMs = 100;
const pauseMaxMs = 2_000;

export interface Peer {
  readonly ip: string;
  readonly port: number;
  /** The name that its certificate is for, and that it is called by. */
  readonly host: string;
  /** Undefined: clear text. */
  readonly tls: TlsFiles | undefined;
}

/**
 * Calls to one process, over one HTTP/2 connection that is opened at once, and anew whenever it ends. A client of our
 * own, because grpc-js takes half as long again for a call, and all its callers are ours.
 */
export class GrpcConnection {
  readonly #peer: Peer;
  /** Takes calls; also those made before it is established. */
  #session: ClientHttp2Session | undefined;
  #failures = 0;
  #openedAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(peer: Peer) {
    this.#peer = peer;
    this.#open();
  }

  /** `headers` are names and values in turn. */
  call(path: string, headers: readonly string[], frame: Buffer, listener: CallListener): { cancel(): void } {
    const session = this.#session;
    if (!session || session.closed || session.destroyed) {
      queueMicrotask(() => listener.onEnd({ code: Code.Unavailable, message: "The service cannot be reached." }));
      return { cancel: () => {} };
    }
    const stream = session.request([":method", "POST", ":path", path, ...commonHeaders, ...headers]);
    return new GrpcCall(stream, frame, listener);
  }

  /** Calls in flight are answered. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#session?.close();
    this.#session = undefined;
  }

  #open(): void {
    this.#openedAtMs = monotonicMs();
    let socket: Socket;
    try {
      socket = socketTo(this.#peer);
    } catch {
      // Certificates that are just being replaced.
      this.#failures += 1;
      this.#openLater();
      return;
    }
    const { host, port, tls } = this.#peer;
    const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    const session = connect(`${tls ? "https" : "http"}://${authority}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: flowControlWindow },
      // What is in flight has its bounds elsewhere.
      maxSessionMemory: Number.MAX_SAFE_INTEGER,
    });
    this.#session = session;
    const greeting = setTimeout(() => session.destroy(), greetingTimeoutMs);
    let stopPings: (() => void) | undefined;
    session.once("remoteSettings", () => {
      clearTimeout(greeting);
      this.#failures = 0;
      session.setLocalWindowSize(flowControlWindow);
      stopPings = keepAlive(session);
    });
    // Told by its close. But an error that nobody listens to would end the process.
    session.on("error", () => {});
    // It takes no more calls, and answers those that it has.
    session.once("goaway", () => this.#replace(session, true));
    session.once("close", () => {
      clearTimeout(greeting);
      stopPings?.();
      this.#replace(session, stopPings !== undefined);
    });
  }

  #replace(session: ClientHttp2Session, wasEstablished: boolean): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    if (!wasEstablished) this.#failures += 1;
    this.#openLater();
  }

  #openLater(): void {
    if (this.#isClosed) return;
    const pauseMs = Math.min(pauseMaxMs, pauseFirstMs * 1.6 ** Math.max(0, this.#failures - 1));
    const waitMs = this.#openedAtMs + pauseMs * (0.8 + 0.4 * Math.random()) - monotonicMs();
    if (waitMs <= 0) this.#open();
    else this.#timer = setTimeout(() => this.#open(), waitMs).unref();
  }
}

const commonHeaders = ["content-type", "application/grpc", "te", "trailers", "user-agent", "setpoint"];

function socketTo({ ip, port, host, tls }: Peer): Socket {
  const to = { host: ip, port, noDelay: true };
  if (!tls) return connectTcp(to);
  return connectTls({
    ...to,
    ALPNProtocols: ["h2"],
    ...(!isIP(host) && { servername: host }),
    // For every connection, so that the next one has those that were replaced.
    ...readCertificates(tls),
  });
}
