import type { Socket } from "node:net";
import { type ConnectionListener, Http2Connection } from "./connection.ts";
import type { Field } from "./header-table.ts";
import { ConnectionError, errorCodes, preface, settings } from "./protocol.ts";
import type { Http2Stream, StreamListener } from "./stream.ts";

const side = {
  greeting: preface,
  peerGreeting: Buffer.alloc(0),
  settings: { enablePush: 0 },
  // An answer to a batch is often larger than what HTTP/2 lets a server send before it waits for the client.
  streamWindow: 4 * 1024 * 1024,
  window: 16 * 1024 * 1024,
};

interface WaitingRequest {
  readonly stream: Http2Stream;
  readonly send: () => void;
}

/** The client's side of a connection. Requests may be made at once; they wait for the socket to connect. */
export class ClientConnection extends Http2Connection {
  protected override readonly lastStreamId = 0;
  /** As many as the server answers at a time. */
  #streamsMax = Number.POSITIVE_INFINITY;
  readonly #waiting: WaitingRequest[] = [];

  constructor(socket: Socket, listener: ConnectionListener) {
    super(socket, side, listener);
    socket.on("close", () => this.#refuseWaiting());
  }

  /** Sends a request of one piece. */
  request(headers: Buffer, body: Buffer, listener: StreamListener): Http2Stream {
    const stream = this.newStream(listener);
    const send = () => {
      this.newestStreamId += this.newestStreamId === 0 ? 1 : 2;
      this.open(this.newestStreamId, stream);
      stream.headers(headers);
      stream.isEnding = true;
      stream.data(body);
    };
    if (this.streams.size < this.#streamsMax) send();
    else this.#waiting.push({ stream, send });
    return stream;
  }

  override onSetting(id: number, value: number): void {
    super.onSetting(id, value);
    if (id !== settings.maxConcurrentStreams) return;
    this.#streamsMax = value;
    this.#sendWaiting();
  }

  override onGoaway(lastStreamId: number): void {
    this.#refuseWaiting();
    for (const [id, stream] of this.streams) if (id > lastStreamId) this.end(stream, errorCodes.refusedStream);
    super.onGoaway(lastStreamId);
  }

  /** Of a stream that was given up. */
  protected override onHeadersOfNone(streamId: number): void {
    if (!this.hasBegun(streamId)) throw new ConnectionError(errorCodes.protocol, "An answer that nobody asked for");
  }

  protected override onHeadersOf(stream: Http2Stream, fields: readonly Field[], isLast: boolean): void {
    stream.listener.onHeaders(fields);
    if (isLast && !stream.isClosed) this.receivedAll(stream);
  }

  protected override sentAll(stream: Http2Stream): void {
    if (stream.hasReceivedAll) this.end(stream, errorCodes.none);
  }

  protected override onResetOf(): void {}

  protected override end(stream: Http2Stream, code: number): void {
    super.end(stream, code);
    this.#sendWaiting();
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0 && this.streams.size < this.#streamsMax) {
      const { stream, send } = this.#waiting.shift() as WaitingRequest;
      if (!stream.isClosed) send();
    }
  }

  #refuseWaiting(): void {
    for (const { stream } of this.#waiting.splice(0)) stream.close(errorCodes.refusedStream);
  }
}
