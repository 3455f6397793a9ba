import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import { ConnectError } from "@connectrpc/connect";
import { surviveFailedAccepts } from "../http/failed-accepts.ts";
import { encodeHeaders } from "../http2/header-encoder.ts";
import { type Field, headerOf } from "../http2/header-table.ts";
import { ServerConnection } from "../http2/server-connection.ts";
import type { Http2Stream } from "../http2/stream.ts";
import type { Logger } from "../observe/logger.ts";
import { ConfigError } from "../process/environment.ts";
import { CallBytes } from "./call-bytes.ts";
import { readCertificates, renewalIntervalMs, watchCertificates } from "./certificates.ts";
import { Code } from "./codes.ts";
import { failCall } from "./grpc-answer.ts";
import { grpcPathOf } from "./grpc-messages.ts";
import { GrpcServerCall } from "./grpc-server-call.ts";
import { keepAlive } from "./keepalive.ts";
import { createMixedPort } from "./mixed-port.ts";
import type { ServedMethod, ServedService } from "./service.ts";
import type { TlsFiles } from "./tls.ts";

/** Connections are closed after this time: the client then looks up the servers again, and finds new ones. */
const connectionAgeMaxMs = 60_000;
/** How long it still accepts calls that were on their way when it announced the end. */
const goawayGraceMs = 500;
const connectionGraceMs = 15_000;

/**
 * Serves gRPC. A server of our own, because grpc-js takes longer for a call than most of our methods do, and answers
 * unreadable requests by itself, bypassing authentication, log and metrics.
 */
export class GrpcServer {
  readonly #methods: ReadonlyMap<string, ServedMethod>;
  readonly #logger: Logger;
  readonly #bytes: CallBytes;
  readonly #connections = new Set<ServerConnection>();
  /** Including those that have not sent anything yet. */
  readonly #sockets = new Set<Socket>();
  readonly #closers: (() => void)[] = [];
  /** Set while it closes. */
  #onLastClosed: (() => void) | undefined;

  constructor(services: readonly ServedService[], logger: Logger, bytes = new CallBytes()) {
    const methods = services.flatMap((service) => service.methods);
    this.#methods = new Map(methods.map((method) => [grpcPathOf(method.descriptor), method]));
    this.#logger = logger;
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
      throw new Error(`Cannot listen for gRPC on ${host}:${port}: ${(error as Error).message}`, { cause: error });
    }
    surviveFailedAccepts(listener, this.#logger);
    this.#closers.push(() => listener.close());
    return (listener.address() as AddressInfo).port;
  }

  /** Accepts no more calls, lets those in flight finish, and cuts what is left after the timeout. */
  async close(timeoutMs: number): Promise<void> {
    for (const close of this.#closers.splice(0)) close();
    for (const connection of this.#connections) retire(connection);
    const timer = setTimeout(() => this.#cut(), timeoutMs);
    if (this.#connections.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onLastClosed = resolve;
      });
    }
    clearTimeout(timer);
    this.#cut();
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #listener(tls: TlsFiles | undefined, renewalMs: number): Server {
    const plain = createServer((socket) => this.#open(socket));
    if (!tls) return plain;
    const secure = createSecureServer(tls);
    secure.on("secureConnection", (socket) => this.#open(socket));
    // Open connections stay as they are.
    const use = secure.setSecureContext.bind(secure);
    this.#closers.push(watchCertificates(tls, use, renewalMs, this.#logger));
    return tls.mode === "accept" || tls.mode === "call" ? createMixedPort(plain, secure) : secure;
  }

  #open(socket: Socket): void {
    socket.setNoDelay(true);
    const connection = new ServerConnection(socket, {
      onRequest: (stream, fields) => this.#serve(connection, stream, fields),
      onClose: () => {
        stopPings();
        clearTimeout(age);
        clearTimeout(grace);
        this.#connections.delete(connection);
        if (this.#connections.size === 0) this.#onLastClosed?.();
      },
    });
    this.#connections.add(connection);
    // Many gRPC clients, such as those of C++, Python and Ruby, read nothing, not even a ping, while they have no call. If we
    // ended the connection then, they would notice only when their next call fails.
    const stopPings = keepAlive(connection, () => !connection.isIdle);
    let grace: NodeJS.Timeout | undefined;
    // Jitter, so that not all of them end at once.
    const ageMaxMs = connectionAgeMaxMs * (0.9 + 0.2 * Math.random());
    const age = setTimeout(() => {
      retire(connection);
      grace = setTimeout(() => connection.destroy(), connectionGraceMs).unref();
    }, ageMaxMs).unref();
    // It was opened too late to be told together with the others.
    if (this.#onLastClosed) retire(connection);
  }

  #serve(connection: ServerConnection, stream: Http2Stream, fields: readonly Field[]): void {
    if (!headerOf(fields, "content-type")?.startsWith("application/grpc")) {
      stream.headers(unsupportedMediaType, true);
      return;
    }
    const method = this.#methods.get(headerOf(fields, ":path") ?? "");
    if (method) new GrpcServerCall(connection, stream, fields, method, this.#bytes).begin();
    else failCall(stream, new ConnectError("There is no such method here.", Code.Unimplemented));
  }
}

const unsupportedMediaType = encodeHeaders([":status", "415"]);

/** Makes a connection end once its calls are answered. */
function retire(connection: ServerConnection): void {
  connection.announceEnd();
  setTimeout(() => connection.close(), goawayGraceMs).unref();
}

function createSecureServer(tls: TlsFiles): TlsServer {
  try {
    return createTlsServer({
      ...readCertificates(tls),
      ALPNProtocols: ["h2"],
      // A client must present a certificate of the same authority.
      requestCert: true,
      rejectUnauthorized: true,
    });
  } catch (error) {
    throw new ConfigError([
      `GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE and GRPC_TLS_CA_FILE cannot be used: ${(error as Error).message}`,
    ]);
  }
}
