import type { Socket } from "node:net";
import type { TransientMap } from "../memory/transient-map.ts";
import { monotonicMs } from "../time/clock.ts";
import { afterArrivals } from "../time/next-turn.ts";
import { frame } from "./frames.ts";
import { noTable } from "./header-encoder.ts";
import { flags, frameBytesMax, frameTypes, windowDefault, windowMax } from "./protocol.ts";
import type { Http2Stream } from "./stream.ts";

/** While the socket has this much to send, data waits in its stream, where it is counted. */
const unsentBytesMax = 64 * 1024;
/** If we sent nothing for this long, the peer may have given up the connection. */
const silenceMs = 1_000;
/** Smaller pieces are copied together and sent as one. */
const copiedBytesMax = 64 * 1024;
const noBytes = Buffer.alloc(0);
const immediately = (run: () => void): void => run();

/** Sends over one connection: frames in order, and data as fast as flow control and the socket allow. */
export class Outbox {
  /** How much more data the peer accepts on the connection. */
  #window = windowDefault;
  /** How much data it accepts on a new stream. */
  #streamWindow = windowDefault;
  readonly #socket: Socket;
  readonly #onSentAll: (stream: Http2Stream) => void;
  #frames: Buffer[] = [];
  #frameBytes = 0;
  #isFlushScheduled = false;
  #isCorked = false;
  #sentAtMs = monotonicMs();
  #hasSentHeaders = false;
  /** Streams with data that waits for the connection, in round-robin order. */
  readonly #blocked = new Set<Http2Stream>();

  constructor(socket: Socket, onSentAll: (stream: Http2Stream) => void) {
    this.#socket = socket;
    this.#onSentAll = onSentAll;
    socket.on("drain", () => this.#sendBlocked());
  }

  /** Sends a frame together with whatever else is sent in this turn. */
  push(bytes: Buffer): void {
    this.#frames.push(bytes);
    this.#frameBytes += bytes.length;
    if (!this.#isCorked) this.#scheduleFlush(queueMicrotask);
  }

  /** Nothing leaves until it is released. */
  cork(): void {
    this.#isCorked = true;
  }

  uncork(): void {
    this.#isCorked = false;
    this.#scheduleFlush(immediately);
  }

  /**
   * Writing to a peer that has closed the connection destroys it, and what lies unread in the socket is lost: answers, if
   * this process was stalled until now. So after a silence, what has arrived is read before anything is written.
   */
  #scheduleFlush(run: (flush: () => void) => void): void {
    if (this.#isFlushScheduled || this.#frames.length === 0) return;
    this.#isFlushScheduled = true;
    if (monotonicMs() - this.#sentAtMs > silenceMs) afterArrivals(this.flush);
    else run(this.flush);
  }

  headers(streamId: number, fields: Buffer, isLast: boolean): void {
    const endBit = isLast ? flags.endStream : 0;
    const block = this.#hasSentHeaders ? fields : Buffer.concat([noTable, fields]);
    this.#hasSentHeaders = true;
    if (block.length <= frameBytesMax) {
      this.#pushFrame(frameTypes.headers, endBit | flags.endHeaders, streamId, block);
      return;
    }
    for (let start = 0; start < block.length; start += frameBytesMax) {
      const type = start === 0 ? frameTypes.headers : frameTypes.continuation;
      const isEnd = start + frameBytesMax >= block.length;
      const bits = (start === 0 ? endBit : 0) | (isEnd ? flags.endHeaders : 0);
      this.#pushFrame(type, bits, streamId, block.subarray(start, start + frameBytesMax));
    }
  }

  /** Sends what may be sent of a stream's pending data, and its end. */
  data(stream: Http2Stream): void {
    if (!this.#blocked.has(stream)) this.#sendFrom(stream, Number.POSITIVE_INFINITY);
  }

  /** Begins a stream. */
  open(stream: Http2Stream): void {
    stream.sendWindow = this.#streamWindow;
  }

  /** The peer accepts more on the connection. Like the next two, returns false if that exceeds the maximum window. */
  growWindow(bytes: number): boolean {
    this.#window += bytes;
    if (this.#window > windowMax) return false;
    this.#sendBlocked();
    return true;
  }

  /** The peer accepts more on a stream. */
  growStreamWindow(stream: Http2Stream, bytes: number): boolean {
    stream.sendWindow += bytes;
    if (stream.sendWindow > windowMax) return false;
    if (stream.writableLength > 0) this.data(stream);
    return true;
  }

  /** The peer changed the initial window of streams, which changes that of the open ones by the difference. */
  resize(streamWindow: number, streams: TransientMap<number, Http2Stream>): boolean {
    const difference = streamWindow - this.#streamWindow;
    if (difference === 0) return true;
    this.#streamWindow = streamWindow;
    const open = streams.entries();
    for (const [, stream] of open) {
      stream.sendWindow += difference;
      if (stream.sendWindow > windowMax) return false;
    }
    // In a second pass: sending may end streams and begin others, whose windows already have the new size.
    for (const [, stream] of open) if (stream.writableLength > 0) this.data(stream);
    return true;
  }

  forget(stream: Http2Stream): void {
    this.#blocked.delete(stream);
  }

  /** What was written and the peer has not read yet, beside the data that waits in its stream. */
  get unreadBytes(): number {
    return this.#frameBytes + this.#socket.writableLength;
  }

  #sendFrom(stream: Http2Stream, framesMax: number): void {
    const { unsent } = stream;
    for (let frames = 0; unsent.bytes > 0; frames += 1) {
      const bytesMax = Math.min(this.#window, stream.sendWindow, frameBytesMax);
      if (bytesMax <= 0 || frames >= framesMax || this.#isFull) {
        // If it waits for its own window, a window update will resume it.
        if (stream.sendWindow > 0) this.#blocked.add(stream);
        return;
      }
      const bytes = unsent.take(bytesMax);
      this.#window -= bytes.length;
      stream.sendWindow -= bytes.length;
      const isLast = unsent.isEnding && !unsent.trailers && unsent.bytes === 0;
      this.#pushFrame(frameTypes.data, isLast ? flags.endStream : 0, stream.id, bytes);
      if (isLast) stream.hasSentAll = true;
    }
    if (unsent.isEnding && !stream.hasSentAll) {
      if (unsent.trailers) this.headers(stream.id, unsent.trailers, true);
      else this.#pushFrame(frameTypes.data, flags.endStream, stream.id, noBytes);
      stream.hasSentAll = true;
    }
    if (stream.hasSentAll) this.#onSentAll(stream);
  }

  get #isFull(): boolean {
    return this.#frameBytes >= unsentBytesMax || this.#socket.writableNeedDrain;
  }

  /** One frame of each stream in turn, so that a large answer does not delay small ones. */
  #sendBlocked(): void {
    // A stream that has more to send comes again after all others.
    for (const stream of this.#blocked) {
      if (this.#window <= 0 || this.#isFull) return;
      this.#blocked.delete(stream);
      this.#sendFrom(stream, 1);
    }
  }

  #pushFrame(type: number, bits: number, streamId: number, payload: Buffer): void {
    this.push(frame(type, bits, streamId, payload));
  }

  readonly flush = (): void => {
    this.#isFlushScheduled = false;
    const frames = this.#frames;
    if (frames.length === 0) return;
    const bytes = this.#frameBytes;
    this.#frames = [];
    this.#frameBytes = 0;
    const socket = this.#socket;
    if (socket.destroyed || socket.writableEnded) return;
    this.#sentAtMs = monotonicMs();
    if (frames.length === 1) socket.write(frames[0] as Buffer);
    else if (bytes <= copiedBytesMax) socket.write(Buffer.concat(frames, bytes));
    else {
      socket.cork();
      for (const each of frames) socket.write(each);
      socket.uncork();
    }
    if (this.#blocked.size > 0 && !socket.writableNeedDrain) this.#sendBlocked();
  };
}
