import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { ClientConnection } from "../http2/client-connection.ts";
import { encodeHeaders } from "../http2/header-encoder.ts";
import { monotonicMs } from "../time/clock.ts";
import { callEvents } from "./call-events.ts";
import { contextOfCalls } from "./certificates.ts";
import { Code } from "./codes.ts";
import { type CallListener, GrpcCall } from "./grpc-call.ts";
import { keepAlive } from "./keepalive.ts";
import { connectLean } from "./lean-socket.ts";
import type { TlsFiles } from "./tls.ts";

/** A peer that accepts a connection and then says nothing counts as unreachable. */
const handshakeTimeoutMs = 10_000;
/** A process that restarts is back within a second, so reconnect soon. */
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
 * Calls to one process, over one HTTP/2 connection that is opened at once, and reopened whenever it ends. A client of
 * our own, because grpc-js takes half as long again for a call, and all its callers are ours.
 */
export class GrpcConnection {
  readonly #peer: Peer;
  /** Accepts calls even before it is established. */
  #connection: ClientConnection | undefined;
  /** The encoded headers with which every call begins, by path. */
  readonly #heads = new Map<string, Buffer>();
  #failures = 0;
  #openedAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #fault: Error | undefined;

  constructor(peer: Peer) {
    this.#peer = peer;
    this.#open();
  }

  /** Why the last attempt to connect failed: for the log, and for a readiness report. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  /** `headers` alternates names and values. */
  call(path: string, headers: readonly string[], frame: Buffer, listener: CallListener): { cancel(): void } {
    const connection = this.#connection;
    if (!connection || connection.isClosing) {
      const message = "The service cannot be reached.";
      queueMicrotask(() => listener.onEnd({ code: Code.Unavailable, message, isRefused: true }));
      return { cancel: () => {} };
    }
    const call = new GrpcCall(listener);
    callEvents.sent.publish(undefined);
    call.send(connection, Buffer.concat([this.#headOf(path), encodeHeaders(headers)]), frame);
    return call;
  }

  /** Calls in flight are still answered. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#connection?.close();
    this.#connection = undefined;
  }

  #headOf(path: string): Buffer {
    let head = this.#heads.get(path);
    if (!head) {
      const { host, port, tls } = this.#peer;
      const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
      const scheme = tls ? "https" : "http";
      head = encodeHeaders([
        ...[":method", "POST", ":scheme", scheme, ":authority", authority, ":path", path],
        ...["content-type", "application/grpc", "te", "trailers", "user-agent", "setpoint"],
      ]);
      this.#heads.set(path, head);
    }
    return head;
  }

  #open(): void {
    this.#openedAtMs = monotonicMs();
    let socket: Socket;
    try {
      socket = socketTo(this.#peer);
    } catch (error) {
      // There are no certificates that could be used yet.
      this.#failed(error as Error);
      this.#openLater();
      return;
    }
    let reason = new Error("it was ended before the peer had said a word, as by one that expects TLS, or none");
    socket.once("error", (error) => {
      reason = error;
    });
    let stopPings: (() => void) | undefined;
    const connection: ClientConnection = new ClientConnection(socket, {
      onReady: () => {
        clearTimeout(handshakeTimer);
        this.#failures = 0;
        this.#fault = undefined;
        stopPings = keepAlive(connection);
      },
      // It accepts no more calls, and answers those that it has.
      onGoaway: () => this.#replace(connection),
      onClose: () => {
        clearTimeout(handshakeTimer);
        stopPings?.();
        if (stopPings === undefined && this.#connection === connection) this.#failed(reason);
        this.#replace(connection);
      },
    });
    const handshakeTimer = setTimeout(() => connection.destroy(), handshakeTimeoutMs);
    this.#connection = connection;
  }

  #failed({ message }: Error): void {
    const { host, ip, port } = this.#peer;
    this.#failures += 1;
    this.#fault = new Error(`No connection to ${host} (${ip}, port ${port}): ${message}`);
  }

  #replace(connection: ClientConnection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
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

function socketTo({ ip, port, host, tls }: Peer): Socket {
  const to = { host: ip, port, noDelay: true };
  if (!tls) return connectLean(to);
  return connectTls({
    ...to,
    ALPNProtocols: ["h2"],
    ...(!isIP(host) && { servername: host }),
    // Made for every connection, so that the next one uses replaced files.
    secureContext: contextOfCalls(tls),
  });
}
