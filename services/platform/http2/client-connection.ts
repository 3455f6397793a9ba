import type { Socket } from "node:net";
import { Http2Connection } from "./connection.ts";
import type { Field } from "./header-table.ts";
import { errorCodes, preface, protocolError, settings, streamIdMax } from "./protocol.ts";
import { Http2Stream, type StreamListener } from "./stream.ts";

const side = {
  preface,
  peerPreface: Buffer.alloc(0),
  settings: { enablePush: 0 },
  // The answer to a batch is often larger than the default window, after which a server would have to wait for the
  // client.
  streamWindow: 4 * 1024 * 1024,
  window: 16 * 1024 * 1024,
};

interface ClientListener {
  /** The server has sent its first settings. */
  onReady(): void;
  /** It accepts no more requests. */
  onGoaway(): void;
  /** Once, after every stream has been closed. */
  onClose(): void;
}

interface WaitingRequest {
  readonly headers: Buffer;
  readonly body: Buffer;
}

/** The client's side of a connection. Requests may be made at once; they wait for the socket to connect. */
export class ClientConnection extends Http2Connection {
  protected override readonly lastStreamId = 0;
  readonly #listener: ClientListener;
  /** As many as the server processes at a time. */
  #streamsMax = Number.POSITIVE_INFINITY;
  readonly #waiting = new Map<Http2Stream, WaitingRequest>();
  #hasConnected: boolean;

  constructor(socket: Socket, listener: ClientListener) {
    super(socket, side);
    this.#listener = listener;
    this.#hasConnected = !socket.connecting;
    socket.once("connect", () => {
      this.#hasConnected = true;
    });
  }

  /** Sends a request in one piece. */
  request(headers: Buffer, body: Buffer, listener: StreamListener): Http2Stream {
    const stream = new Http2Stream(this, listener);
    if (this.#hasRoom) this.#send(stream, headers, body);
    else this.#waiting.set(stream, { headers, body });
    return stream;
  }

  override reset(stream: Http2Stream, code: number): void {
    this.#waiting.delete(stream);
    super.reset(stream, code);
  }

  override onFirstSettings(): void {
    this.#listener.onReady();
  }

  override onSettings(values: ReadonlyMap<number, number>): void {
    if (values.get(settings.enablePush) === 1) throw protocolError("Only a client may allow pushes");
    super.onSettings(values);
    this.#streamsMax = values.get(settings.maxConcurrentStreams) ?? this.#streamsMax;
    this.onStreamSlotFree();
  }

  override onGoaway(lastStreamId: number): void {
    this.#refuseWaiting();
    for (const [id, stream] of this.streams.entries())
      if (id > lastStreamId) this.end(stream, errorCodes.refusedStream);
    this.close();
    this.#listener.onGoaway();
  }

  /** Headers of a stream that was given up. */
  protected override onHeadersOfClosedStream(streamId: number): void {
    if (!this.hasBegun(streamId)) throw protocolError("An answer that nobody asked for");
  }

  protected override onHeadersOfOpenStream(stream: Http2Stream, fields: readonly Field[], isLast: boolean): void {
    stream.listener.onHeaders(fields, isLast);
    if (isLast && !stream.isClosed) this.receivedAll(stream);
  }

  /** A server is trusted to have its reasons. */
  protected override onUselessWork(): void {}

  protected override sentAll(stream: Http2Stream): void {
    if (stream.hasReceivedAll) this.end(stream, errorCodes.none);
  }

  protected override onStreamSlotFree(): void {
    for (const [stream, { headers, body }] of this.#waiting) {
      if (!this.#hasRoom) return;
      this.#waiting.delete(stream);
      this.#send(stream, headers, body);
    }
  }

  protected override closed(): void {
    this.#refuseWaiting();
    // Nothing has left this process.
    if (!this.#hasConnected)
      for (const [, stream] of this.streams.entries()) this.end(stream, errorCodes.refusedStream);
    super.closed();
    this.#listener.onClose();
  }

  get #hasRoom(): boolean {
    return this.streams.size < this.#streamsMax;
  }

  #send(stream: Http2Stream, headers: Buffer, body: Buffer): void {
    this.newestStreamId += this.newestStreamId === 0 ? 1 : 2;
    this.open(this.newestStreamId, stream);
    stream.headers(headers);
    stream.endWith(body);
    // No stream id is left for another: as if the server accepted no more.
    if (this.newestStreamId >= streamIdMax) this.onGoaway(streamIdMax);
  }

  #refuseWaiting(): void {
    const streams = [...this.#waiting.keys()];
    this.#waiting.clear();
    for (const stream of streams) stream.close(errorCodes.refusedStream);
  }
}
