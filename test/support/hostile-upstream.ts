import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { type ReceivedRequest, RequestReader } from "./received-request.ts";

/** Runs for a request, once all of it has arrived, or with `atHead` once its head has. */
export type Script = (request: ReceivedRequest, socket: Socket) => void | Promise<void>;

interface Certified {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** An upstream that follows its script byte by byte, and does what no well-behaved server would. */
export class HostileUpstream {
  readonly #server: Server;
  readonly #accepted = new Set<Socket>();
  readonly #sockets = new Set<Socket>();
  readonly received: ReceivedRequest[] = [];
  connections = 0;
  /** For every request without a script of its own. */
  script: Script = answerWith(200, '{"ok":true}');
  /** Scripts for the next requests, in order of arrival. */
  readonly next: Script[] = [];
  /** Runs when the head of a request has arrived, before its body. */
  atHead: Script | undefined;
  /** Reads nothing from a connection until told to. */
  isDeaf = false;

  readonly #protocol: "http" | "https";

  private constructor(certified: Certified | undefined) {
    this.#protocol = certified ? "https" : "http";
    const serve = (socket: Socket) => this.#serve(socket);
    this.#server = certified
      ? createTlsServer({ ...certified, allowHalfOpen: true }, serve)
      : createServer({ allowHalfOpen: true }, serve);
    // Includes connections that never complete TLS.
    this.#server.on("connection", (socket: Socket) => {
      this.#accepted.add(socket);
      socket.once("close", () => this.#accepted.delete(socket));
    });
  }

  /** Speaks TLS if it has a certificate. */
  static async start(port = 0, certified?: Certified): Promise<HostileUpstream> {
    const upstream = new HostileUpstream(certified);
    await new Promise<void>((resolve) => upstream.#server.listen(port, "127.0.0.1", resolve));
    return upstream;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#protocol}://127.0.0.1:${this.port}/v1`;
  }

  /** The number of open connections. */
  get openConnections(): number {
    return this.#sockets.size;
  }

  get last(): ReceivedRequest {
    const last = this.received.at(-1);
    if (!last) throw new Error("The upstream has received nothing");
    return last;
  }

  reset(): void {
    this.received.length = 0;
    this.next.length = 0;
    this.atHead = undefined;
    this.isDeaf = false;
    this.script = answerWith(200, '{"ok":true}');
  }

  closeConnections(): void {
    for (const socket of [...this.#sockets, ...this.#accepted]) socket.destroy();
  }

  async stop(): Promise<void> {
    this.closeConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    this.connections++;
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    const reader = new RequestReader(socket, {
      onHead: (request) => {
        this.received.push(request);
        void this.atHead?.(request, socket);
      },
      onEnd: (request) => void (this.next.shift() ?? this.script)(request, socket),
    });
    if (this.isDeaf) socket.pause();
    else socket.on("data", (data: Buffer) => reader.read(data));
  }
}

export function headOf(status: number, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`;
}

/** A complete response. */
export function answerWith(
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Script {
  const bytes = Buffer.from(body);
  const head = headOf(status, {
    "content-type": "application/json",
    "content-length": String(bytes.length),
    ...headers,
  });
  return (_request, socket) => {
    socket.write(Buffer.concat([Buffer.from(head), bytes]));
  };
}

export const streamHead = headOf(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked" });

/** One chunk of a chunked body. */
export function chunkOf(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

export const lastChunk = "0\r\n\r\n";

/** A stream of pieces, one after the other, that ends properly. */
export function streamOf(pieces: readonly (string | Buffer)[], { gapMs = 0 } = {}): Script {
  return async (_request, socket) => {
    socket.write(streamHead);
    for (const piece of pieces) {
      if (gapMs > 0) await new Promise((resolve) => setTimeout(resolve, gapMs));
      if (socket.destroyed) return;
      socket.write(chunkOf(piece));
    }
    socket.write(lastChunk);
  };
}

/** The beginning of a stream, which is left open. */
export function streamBegun(text: string): Script {
  return (_request, socket) => {
    socket.write(beginningOf(text));
  };
}

/** The beginning of a stream, after which the connection ends. */
export function streamBroken(text: string | Buffer): Script {
  return (_request, socket) => {
    socket.write(beginningOf(text), () => socket.destroy());
  };
}

function beginningOf(text: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(streamHead), chunkOf(text)]);
}

/** Neither answers nor closes. */
export const silence: Script = () => {};
