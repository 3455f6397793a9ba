import type { Socket } from "node:net";
import { monotonicMs } from "../time/clock.ts";
import { Http2Connection } from "./connection.ts";
import { goawayFrame, rstStreamFrame } from "./frames.ts";
import type { Field } from "./header-table.ts";
import { ConnectionError, errorCodes, preface, protocolError, streamIdMax } from "./protocol.ts";
import { areTrailers, contentLength, isRequest } from "./request-rules.ts";
import { Http2Stream } from "./stream.ts";

/** The client has to queue any more. */
const streamsMax = 4_096;

const side = {
  preface: Buffer.alloc(0),
  peerPreface: preface,
  settings: { maxConcurrentStreams: streamsMax },
  // Enough for most batches of the gateway, which would otherwise wait half-way until both processes have found time
  // for a window update. Not more, also for all streams together: not everything should be on its way already when a
  // client gives up a request, and of a crowd of large requests the first should be answered before the last arrive.
  streamWindow: 256 * 1024,
  window: 256 * 1024,
};

/** Node reads up to 2 MiB of a connection at once. After so many requests, others are read first. */
const requestsBetweenPauses = 256;

/**
 * How many useless operations a client may cause at once, and how many per second: streams that it resets, or that we
 * reset because of what it sends, and changed settings.
 */
const uselessWorkMax = 1_000;
const uselessWorkPerSecond = 33;
/** Settings may change the window of every stream: to do that for so many counts as one operation. */
const streamsPerUselessWork = 100;

interface ServerListener {
  /** To receive the rest of the request, set the stream's `listener`. */
  onRequest(stream: Http2Stream, fields: readonly Field[]): void;
  /** Once, after every stream has been closed. */
  onClose(): void;
}

/** The server's side of a connection. */
export class ServerConnection extends Http2Connection {
  readonly #listener: ServerListener;
  #requestsUntilPause = requestsBetweenPauses;
  #uselessWorkLeft = uselessWorkMax;
  #countedAtMs = monotonicMs();

  constructor(socket: Socket, listener: ServerListener) {
    super(socket, side);
    this.#listener = listener;
  }

  /** Makes the client use another connection; requests that it has already sent are still answered. */
  announceEnd(): void {
    if (!this.isClosing) this.outbox.push(goawayFrame(streamIdMax, errorCodes.none));
  }

  override close(): void {
    if (!this.isClosing) this.outbox.push(goawayFrame(this.newestStreamId, errorCodes.none));
    super.close();
  }

  override onFirstSettings(): void {}

  /** Concerns streams that we begin, and there are none. A client that leaves closes the connection. */
  override onGoaway(): void {}

  /**
   * Clients built on gRPC's C core (C++, Python, Ruby), when they cancel many calls at once, also reset streams whose
   * headers they then never send. By the rules, that would end the connection, and with it all their other calls.
   */
  override onReset(streamId: number, code: number): void {
    const isOfLaterStream = this.newestStreamId > 0 && streamId > this.newestStreamId && streamId % 2 === 1;
    if (isOfLaterStream) this.onUselessWork();
    else super.onReset(streamId, code);
  }

  override onSettings(values: ReadonlyMap<number, number>): void {
    this.onUselessWork(1 + this.streams.size / streamsPerUselessWork);
    super.onSettings(values);
  }

  protected override get lastStreamId(): number {
    return this.newestStreamId;
  }

  protected override onHeadersOfClosedStream(
    streamId: number,
    fields: readonly Field[] | undefined,
    isLast: boolean,
  ): void {
    if (streamId % 2 === 0) throw protocolError("A stream that only we might begin");
    if (this.hasBegun(streamId)) {
      // Nobody would answer it.
      if (fields && isRequest(fields)) throw protocolError("A request on a stream that has already begun");
      // Trailers of a stream that we ended while they were on their way.
      return;
    }
    this.newestStreamId = streamId;
    this.#countRequest();
    if (this.isClosing || this.streams.size >= streamsMax) {
      this.outbox.push(rstStreamFrame(streamId, errorCodes.refusedStream));
      return;
    }
    if (!fields || !isRequest(fields)) {
      this.outbox.push(rstStreamFrame(streamId, fields ? errorCodes.protocol : errorCodes.enhanceYourCalm));
      this.onUselessWork();
      return;
    }
    const stream = new Http2Stream(this);
    stream.missingBytes = contentLength(fields);
    this.open(streamId, stream);
    this.#listener.onRequest(stream, fields);
    if (isLast && !stream.isClosed) this.receivedAll(stream);
  }

  protected override onHeadersOfOpenStream(stream: Http2Stream, fields: readonly Field[], isLast: boolean): void {
    if (isLast && areTrailers(fields)) this.receivedAll(stream);
    else this.resetForPeerFault(stream, errorCodes.protocol);
  }

  /** Whatever the client has not sent by then is not needed. */
  protected override sentAll(stream: Http2Stream): void {
    if (stream.hasReceivedAll) this.end(stream, errorCodes.none);
    else this.reset(stream, errorCodes.none);
  }

  protected override onUselessWork(count = 1): void {
    const nowMs = monotonicMs();
    const regained = ((nowMs - this.#countedAtMs) / 1_000) * uselessWorkPerSecond;
    this.#countedAtMs = nowMs;
    this.#uselessWorkLeft = Math.min(uselessWorkMax, this.#uselessWorkLeft + regained) - count;
    if (this.#uselessWorkLeft < 0) throw new ConnectionError(errorCodes.enhanceYourCalm, "Too much work for nothing");
  }

  #countRequest(): void {
    this.#requestsUntilPause -= 1;
    if (this.#requestsUntilPause > 0) return;
    this.#requestsUntilPause = requestsBetweenPauses;
    this.letOthersRead();
  }

  protected override closed(): void {
    super.closed();
    this.#listener.onClose();
  }
}
