import type { Socket } from "node:net";
import { monotonicMs } from "../process/clock.ts";
import { type ConnectionListener, Http2Connection } from "./connection.ts";
import { goawayFrame, rstStreamFrame } from "./frames.ts";
import type { Field } from "./header-table.ts";
import { ConnectionError, errorCodes, preface, streamIdMax, windowDefault } from "./protocol.ts";
import { areTrailers, contentLength, isRequest } from "./request-rules.ts";
import { type Http2Stream, nobody, type StreamListener } from "./stream.ts";

/** More wait at the client. */
const streamsMax = 4_096;

const side = {
  greeting: Buffer.alloc(0),
  peerGreeting: preface,
  settings: { maxConcurrentStreams: streamsMax },
  // No more than the default: so what a client sends and then gives up on is not all on its way already.
  streamWindow: windowDefault,
  window: windowDefault,
};

/** What has us work for nothing, streams that are reset and settings that change: so often at once, and in a second. */
const whimsMax = 1_000;
const whimsPerSecond = 33;

/** Takes a request, and says who hears of the rest of it. */
type OnRequest = (stream: Http2Stream, fields: readonly Field[]) => StreamListener;

/** The server's side of a connection. */
export class ServerConnection extends Http2Connection {
  readonly #onRequest: OnRequest;
  #whimsLeft = whimsMax;
  #countedAtMs = monotonicMs();

  constructor(socket: Socket, onRequest: OnRequest, listener: ConnectionListener) {
    super(socket, side, listener);
    this.#onRequest = onRequest;
  }

  /** Has the client turn to another connection; what it has sent already will be answered. */
  announceEnd(): void {
    if (!this.isClosing) this.outbox.push(goawayFrame(streamIdMax, errorCodes.none));
  }

  override close(): void {
    if (!this.isClosing) this.outbox.push(goawayFrame(this.newestStreamId, errorCodes.none));
    super.close();
  }

  /** Speaks of streams of ours, which there are none of. A client that goes closes the connection. */
  override onGoaway(): void {}

  override onAllSettings(): void {
    this.#countWhim();
    super.onAllSettings();
  }

  protected override get lastStreamId(): number {
    return this.newestStreamId;
  }

  protected override onHeadersOfNone(streamId: number, fields: readonly Field[], isLast: boolean): void {
    if (streamId % 2 === 0) throw new ConnectionError(errorCodes.protocol, "A stream that only we might begin");
    // Of one that we have ended while this was on its way.
    if (this.hasBegun(streamId)) return;
    this.newestStreamId = streamId;
    if (this.isClosing || this.streams.size >= streamsMax) {
      this.outbox.push(rstStreamFrame(streamId, errorCodes.refusedStream));
      return;
    }
    if (!isRequest(fields)) {
      this.outbox.push(rstStreamFrame(streamId, errorCodes.protocol));
      return;
    }
    const stream = this.newStream(nobody);
    stream.missingBytes = contentLength(fields);
    this.open(streamId, stream);
    stream.listener = this.#onRequest(stream, fields);
    if (isLast && !stream.isClosed) this.receivedAll(stream);
  }

  protected override onHeadersOf(stream: Http2Stream, fields: readonly Field[], isLast: boolean): void {
    if (isLast && areTrailers(fields)) this.receivedAll(stream);
    else this.reset(stream, errorCodes.protocol);
  }

  /** What the client has not sent by then is of no use. */
  protected override sentAll(stream: Http2Stream): void {
    if (stream.hasReceivedAll) this.end(stream, errorCodes.none);
    else this.reset(stream, errorCodes.none);
  }

  protected override onResetOf(): void {
    this.#countWhim();
  }

  #countWhim(): void {
    const nowMs = monotonicMs();
    const regained = ((nowMs - this.#countedAtMs) / 1_000) * whimsPerSecond;
    this.#countedAtMs = nowMs;
    this.#whimsLeft = Math.min(whimsMax, this.#whimsLeft + regained) - 1;
    if (this.#whimsLeft < 0) throw new ConnectionError(errorCodes.enhanceYourCalm, "Too much work for nothing");
  }
}
