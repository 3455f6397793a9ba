import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { FrameReader } from "../../services/platform/http2/frame-reader.ts";
import { frame, settingsFrame } from "../../services/platform/http2/frames.ts";
import { encodeHeaders } from "../../services/platform/http2/header-encoder.ts";
import { type Field, headerOf } from "../../services/platform/http2/header-table.ts";
import { flags, frameTypes, preface } from "../../services/platform/http2/protocol.ts";
import { ServerConnection } from "../../services/platform/http2/server-connection.ts";
import type { Http2Stream } from "../../services/platform/http2/stream.ts";

const answer = encodeHeaders([":status", "200"]);

export const largeBytes = 60_000_000;
export const mediumBytes = 30_000;
const bodies = new Map([
  ["/large", Buffer.alloc(largeBytes)],
  ["/medium", Buffer.alloc(mediumBytes)],
  ["/unfinished", Buffer.alloc(mediumBytes)],
]);

/** A client that sends handwritten frames, and a server that answers them. */
export class RawHttp2 {
  readonly client: Socket;
  readonly #others: Socket[] = [];
  /** The frames that the server has sent. */
  readonly frames: { type: number; bits: number; streamId: number; payload: Buffer }[] = [];
  readonly connections: ServerConnection[];
  /** The sockets of these connections. */
  readonly sockets: Socket[];
  /** How many requests have ended. */
  requests = 0;
  readonly received: Buffer[] = [];
  large: Http2Stream | undefined;
  /** A stream whose answer has not been ended. */
  unfinished: Http2Stream | undefined;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.connections = [];
    this.sockets = [];
    server.on("connection", (socket) => {
      this.sockets.push(socket);
      const onRequest = (stream: Http2Stream, fields: readonly Field[]) => this.#serve(stream, fields);
      this.connections.push(new ServerConnection(socket, { onRequest, onClose() {} }));
    });
    this.client = connect((server.address() as AddressInfo).port, "127.0.0.1");
    const reader = new FrameReader((type, bits, streamId, payload) =>
      this.frames.push({ type, bits, streamId, payload }),
    );
    this.client.on("data", (chunk: Buffer) => reader.read(chunk));
    this.client.on("error", () => {});
  }

  static async open(): Promise<RawHttp2> {
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    return new RawHttp2(server);
  }

  /** Opens so many more connections to the server. What it sends to them is dropped. */
  connectOthers(count: number): Socket[] {
    const { port } = this.#server.address() as AddressInfo;
    const others = Array.from({ length: count }, () =>
      connect(port, "127.0.0.1")
        .on("error", () => {})
        .resume(),
    );
    this.#others.push(...others);
    return others;
  }

  close(): void {
    for (const client of [this.client, ...this.#others]) client.destroy();
    for (const connection of this.connections) connection.destroy();
    this.#server.close();
  }

  /** Sends the connection preface, then these frames. */
  send(...frames: Buffer[]): void {
    this.client.write(Buffer.concat([preface, settingsFrame({}), ...frames]));
  }

  readonly framesOf = (type: number) => this.frames.filter((one) => one.type === type);
  readonly goawayCode = () => this.framesOf(frameTypes.goaway).at(-1)?.payload.readUInt32BE(4);
  readonly resetCode = () => this.framesOf(frameTypes.rstStream).at(-1)?.payload.readUInt32BE(0);
  readonly hasPong = () => this.framesOf(frameTypes.ping).some(({ bits }) => bits === flags.ack);

  #serve(stream: Http2Stream, fields: readonly Field[]): void {
    stream.listener = {
      onHeaders() {},
      onData: (bytes) => this.received.push(bytes),
      onEnd: () => {
        this.requests += 1;
        const path = headerOf(fields, ":path") ?? "";
        if (path === "/silent") return;
        if (path === "/faulty") throw new Error("a fault of ours");
        if (path === "/large") this.large = stream;
        stream.headers(answer);
        stream.data(bodies.get(path) ?? Buffer.from("answered"));
        if (path === "/unfinished") this.unfinished = stream;
        else stream.end(encodeHeaders(["x-trailer", "1"]));
      },
      onClose() {},
    };
  }
}

export function headers(
  streamId: number,
  pairs: readonly string[] = request(),
  bits: number = flags.endStream | flags.endHeaders,
): Buffer {
  return frame(frameTypes.headers, bits, streamId, encodeHeaders(pairs));
}

export function request(...more: string[]): string[] {
  return [":method", "POST", ":scheme", "http", ":path", "/", ":authority", "a", ...more];
}

export function data(streamId: number, bytes: Buffer | string, bits = 0): Buffer {
  return frame(frameTypes.data, bits, streamId, Buffer.from(bytes));
}

export function ping(text = "12345678"): Buffer {
  return frame(frameTypes.ping, 0, 0, Buffer.from(text));
}
