import { once, setMaxListeners } from "node:events";
import {
  constants,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import { Code } from "@connectrpc/connect";
import { CallBytes } from "./call-bytes.ts";
import { readCertificates, renewCertificates } from "./certificates.ts";
import { grpcPathOf } from "./grpc-messages.ts";
import { GrpcServerCall, refuseCall } from "./grpc-server-call.ts";
import { keepAlive } from "./keepalive.ts";
import { createMixedPort } from "./mixed-port.ts";
import type { ServedMethod, ServedService } from "./service.ts";
import type { TlsFiles } from "./tls.ts";

/** A client looks its servers up again when a connection ends, and so finds those that were added. */
const connectionAgeMaxMs = 60_000;
/** How long it still takes the calls that were on the way when it was told to end. */
const farewellMs = 500;
const connectionGraceMs = 15_000;
/** A certificate that was replaced is in use this long after. */
const renewalIntervalMs = 10_000;
/** Whatever was sent will be answered. */
const anyStreamId = 2 ** 31 - 1;

const http2Options: ServerOptions = {
  // More wait at the client.
  settings: { maxConcurrentStreams: 4_096 },
  // What calls hold is counted elsewhere.
  maxSessionMemory: Number.MAX_SAFE_INTEGER,
};

/**
 * Serves gRPC over `node:http2`. A server of our own, because grpc-js takes longer for a call than most of our methods do,
 * and answers what it cannot read by itself, past authentication, log and metrics.
 */
export class GrpcServer {
  readonly #methods: ReadonlyMap<string, ServedMethod>;
  readonly #bytes: CallBytes;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #sockets = new Set<Socket>();
  readonly #closers: (() => void)[] = [];

  constructor(services: readonly ServedService[], bytes = new CallBytes()) {
    const methods = services.flatMap((service) => service.methods);
    this.#methods = new Map(methods.map((method) => [grpcPathOf(method.descriptor), method]));
    this.#bytes = bytes;
  }

  /** Listens, and returns the port; 0 chooses a free one. */
  async listen(host: string, port: number, tls: TlsFiles | undefined, renewalMs = renewalIntervalMs): Promise<number> {
    const listener = this.#listener(tls, renewalMs);
    listener.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    try {
      await once(listener.listen(port, host), "listening");
    } catch (error) {
      throw new Error(`Cannot listen for gRPC on ${host}:${port}: ${(error as Error).message}`);
    }
    this.#closers.push(() => listener.close());
    return (listener.address() as AddressInfo).port;
  }

  /** Takes no more calls, lets those in flight finish, and cuts what is left after the timeout. */
  async close(timeoutMs: number): Promise<void> {
    for (const close of this.#closers.splice(0)) close();
    const sessions = [...this.#sessions];
    for (const session of sessions) retire(session);
    const timeout = AbortSignal.timeout(timeoutMs);
    // One for each connection is no leak.
    setMaxListeners(0, timeout);
    const closed = sessions.map((session) => once(session, "close", { signal: timeout }));
    await Promise.allSettled(closed);
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }

  #listener(tls: TlsFiles | undefined, renewalMs: number): Server {
    if (!tls) return this.#served(createServer(http2Options));
    const secure = createSecureServer({
      ...http2Options,
      ...readCertificates(tls),
      // A client must show a certificate of the same authority.
      requestCert: true,
      rejectUnauthorized: true,
    });
    // It ends without a word where it fails: how is the business of who opened it.
    secure.on("secureConnection", (socket) => socket.on("error", () => {}));
    this.#closers.push(renewCertificates(secure, tls, renewalMs));
    this.#served(secure);
    if (tls.mode !== "accept" && tls.mode !== "call") return secure;
    return createMixedPort(this.#served(createServer(http2Options)), secure);
  }

  #served<S extends Http2Server | Http2SecureServer>(server: S): S {
    server.on("session", (session: ServerHttp2Session) => this.#open(session));
    server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => this.#serve(stream, headers));
    return server;
  }

  #open(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    const stopPings = keepAlive(session);
    let grace: NodeJS.Timeout | undefined;
    // Not all of them at once.
    const ageMaxMs = connectionAgeMaxMs * (0.9 + 0.2 * Math.random());
    const age = setTimeout(() => {
      retire(session);
      grace = setTimeout(() => session.destroy(), connectionGraceMs).unref();
    }, ageMaxMs).unref();
    session.once("close", () => {
      this.#sessions.delete(session);
      stopPings();
      clearTimeout(age);
      clearTimeout(grace);
    });
  }

  #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    if (!headers["content-type"]?.startsWith("application/grpc")) {
      stream.on("error", () => {});
      stream.respond({ ":status": constants.HTTP_STATUS_UNSUPPORTED_MEDIA_TYPE }, { endStream: true });
      return;
    }
    const method = this.#methods.get(headers[":path"] ?? "");
    if (method) new GrpcServerCall(stream, headers, method, this.#bytes);
    else refuseCall(stream, Code.Unimplemented, "There is no such method here.");
  }
}

/** Has a connection end once its calls are answered. */
function retire(session: ServerHttp2Session): void {
  if (session.closed || session.destroyed) return;
  session.goaway(constants.NGHTTP2_NO_ERROR, anyStreamId);
  setTimeout(() => session.close(), farewellMs).unref();
}
