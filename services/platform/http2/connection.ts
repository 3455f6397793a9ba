import type { Socket } from "node:net";
import { ByteBudget, Reservation } from "../memory/byte-budget.ts";
import { TransientMap } from "../memory/transient-map.ts";
import {
  goawayFrame,
  pingFrame,
  rstStreamFrame,
  settingsAckFrame,
  settingsFrame,
  windowUpdateFrame,
} from "./frames.ts";
import { headerListBytesMax } from "./header-decoder.ts";
import type { Field } from "./header-table.ts";
import { Inbox, type InboxListener } from "./inbox.ts";
import { Outbox } from "./outbox.ts";
import {
  ConnectionError,
  errorCodes,
  flowControlError,
  pingBytes,
  protocolError,
  settings,
  windowDefault,
} from "./protocol.ts";
import type { Http2Stream, StreamOwner } from "./stream.ts";

/** How the two sides differ from the beginning. */
interface Side {
  /** What each sends before its first frame. */
  readonly preface: Buffer;
  readonly peerPreface: Buffer;
  readonly settings: Parameters<typeof settingsFrame>[0];
  /** How much the peer may send before it must wait: on a stream, and on all together. */
  readonly streamWindow: number;
  readonly window: number;
}

/**
 * What a peer may make us hold outside of calls: answers that it does not read, and headers that it does not complete.
 * Only one that keeps asking and reads nothing reaches the maximum.
 */
const heldBytesMax = 4 * 1024 * 1024;
/** So much of it is not counted below: data alone takes no more. */
const uncountedBytes = 160 * 1024;
/** The rest, of all peers together: anyone can open hundreds of connections. */
const heldByAll = new ByteBudget(32 * 1024 * 1024);

/** How long the peer may take to close its side of a connection that we have ended. */
const lingerMs = 1_000;

/**
 * The parts of an HTTP/2 connection (RFC 9113) that are the same on both sides. Our own implementation, because
 * `node:http2` takes longer for a small call than everything else that is done for it.
 */
export abstract class Http2Connection implements StreamOwner, InboxListener {
  protected readonly outbox: Outbox;
  protected readonly streams = new TransientMap<number, Http2Stream>();
  /** The newest stream that the client has begun; a server begins none. */
  protected newestStreamId = 0;
  readonly #socket: Socket;
  readonly #inbox: Inbox;
  readonly #side: Side;
  #receiveWindow: number;
  readonly #onPingAnswers: (() => void)[] = [];
  readonly #held = new Reservation(heldByAll);
  #isClosing = false;
  /** Whether it was ended because of what the peer did. */
  #hasFailed = false;

  constructor(socket: Socket, side: Side) {
    this.#socket = socket;
    this.#side = side;
    this.#receiveWindow = side.window;
    this.#inbox = new Inbox(side.peerPreface, this);
    this.outbox = new Outbox(socket, (stream) => this.sentAll(stream));
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    // Reported by its close. But an error without a listener would end the process.
    socket.on("error", () => {});
    socket.on("end", () => this.destroy());
    socket.on("close", () => {
      this.#held.release();
      this.closed();
    });
    socket.on("drain", () => this.#countHeld());
    // Whoever looked at its first byte may have paused it.
    socket.resume();
    this.#sendPreface();
  }

  /** Whether it accepts no more streams. */
  get isClosing(): boolean {
    return this.#isClosing || this.#hasFailed || this.destroyed;
  }

  get destroyed(): boolean {
    return this.#socket.destroyed;
  }

  /** Whether no stream is open. */
  get isIdle(): boolean {
    return this.streams.size === 0;
  }

  /** Checks that the peer is still there. */
  ping(onAnswer: () => void): void {
    this.#onPingAnswers.push(onAnswer);
    this.outbox.push(pingFrame(Buffer.alloc(pingBytes), false));
  }

  /** Closes it once its streams have ended. */
  close(): void {
    this.#isClosing = true;
    this.#endIfDone();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  sendHeaders(stream: Http2Stream, block: Buffer, isLast: boolean): void {
    this.outbox.headers(stream.id, block, isLast);
    if (!isLast) return;
    stream.hasSentAll = true;
    this.sentAll(stream);
  }

  sendData(stream: Http2Stream): void {
    this.outbox.data(stream);
  }

  reset(stream: Http2Stream, code: number): void {
    if (stream.id !== 0) this.outbox.push(rstStreamFrame(stream.id, code));
    this.end(stream, code);
  }

  abstract onFirstSettings(): void;
  abstract onGoaway(lastStreamId: number): void;

  onSettings(values: ReadonlyMap<number, number>): void {
    const streamWindow = values.get(settings.initialWindowSize);
    if (streamWindow !== undefined && !this.outbox.resize(streamWindow, this.streams)) throw flowControlError();
    this.outbox.push(settingsAckFrame());
  }

  onHeaders(streamId: number, fields: readonly Field[] | undefined, isLast: boolean): void {
    const stream = this.streams.get(streamId);
    if (!stream) this.onHeadersOfClosedStream(streamId, fields, isLast);
    else if (stream.hasReceivedAll) this.resetForPeerFault(stream, errorCodes.streamClosed);
    else if (!fields) this.resetForPeerFault(stream, errorCodes.enhanceYourCalm);
    else this.onHeadersOfOpenStream(stream, fields, isLast);
  }

  onData(streamId: number, data: Buffer, windowBytes: number, isLast: boolean): void {
    this.#countReceived(windowBytes);
    const stream = this.#find(streamId);
    if (!stream) return;
    stream.missingBytes -= data.length;
    const fault = faultOf(stream);
    if (fault !== undefined) {
      this.resetForPeerFault(stream, fault);
      return;
    }
    if (!isLast) this.#countReceivedOf(stream, windowBytes);
    if (data.length > 0) stream.listener.onData(data);
    if (isLast && !stream.isClosed) this.receivedAll(stream);
  }

  onReset(streamId: number, code: number): void {
    const stream = this.#find(streamId);
    if (!stream) return;
    this.end(stream, code);
    this.onUselessWork();
  }

  onPing(payload: Buffer): void {
    this.outbox.push(pingFrame(payload, true));
  }

  onPingAnswer(): void {
    this.#onPingAnswers.shift()?.();
  }

  onWindowUpdate(streamId: number, bytes: number): void {
    if (streamId === 0) {
      if (bytes === 0) throw protocolError("A window grows by nothing");
      if (!this.outbox.growWindow(bytes)) throw flowControlError();
      return;
    }
    const stream = this.#find(streamId);
    if (!stream) return;
    if (bytes === 0) this.resetForPeerFault(stream, errorCodes.protocol);
    else if (!this.outbox.growStreamWindow(stream, bytes)) this.resetForPeerFault(stream, errorCodes.flowControl);
  }

  /** Headers of a stream that is not open; it may be a new one. */
  protected abstract onHeadersOfClosedStream(
    streamId: number,
    fields: readonly Field[] | undefined,
    isLast: boolean,
  ): void;
  protected abstract onHeadersOfOpenStream(stream: Http2Stream, fields: readonly Field[], isLast: boolean): void;
  /** The peer caused us useless work. */
  protected abstract onUselessWork(): void;
  /** Our side of a stream has ended. */
  protected abstract sentAll(stream: Http2Stream): void;
  /** The last stream of the peer that may have been processed. */
  protected abstract readonly lastStreamId: number;

  protected open(id: number, stream: Http2Stream): void {
    stream.id = id;
    this.outbox.open(stream);
    stream.receiveWindow = this.#side.streamWindow;
    this.streams.set(id, stream);
  }

  protected receivedAll(stream: Http2Stream): void {
    if (stream.missingBytes > 0) {
      this.resetForPeerFault(stream, errorCodes.protocol);
      return;
    }
    stream.hasReceivedAll = true;
    stream.listener.onEnd();
    if (stream.hasSentAll && !stream.isClosed) this.end(stream, errorCodes.none);
  }

  /** Resets a stream because of what the peer has sent on it. */
  protected resetForPeerFault(stream: Http2Stream, code: number): void {
    this.reset(stream, code);
    this.onUselessWork();
  }

  protected end(stream: Http2Stream, code: number): void {
    this.streams.delete(stream.id);
    this.outbox.forget(stream);
    stream.close(code);
    this.onStreamSlotFree();
    this.#endIfDone();
  }

  /** There is room for another stream. */
  protected onStreamSlotFree(): void {}

  /** Pauses until the next turn of the event loop, so that others are read before the rest of what has arrived here. */
  protected letOthersRead(): void {
    this.#socket.pause();
    setImmediate(() => this.#socket.resume());
  }

  protected hasBegun(streamId: number): boolean {
    return streamId % 2 === 1 && streamId <= this.newestStreamId;
  }

  /** The socket is closed: so are its streams. */
  protected closed(): void {
    for (const [id, stream] of this.streams.entries()) {
      this.streams.delete(id);
      stream.close(undefined);
    }
  }

  #sendPreface(): void {
    const { preface, settings: own, streamWindow, window } = this.#side;
    const first = { ...own, initialWindowSize: streamWindow, maxHeaderListSize: headerListBytesMax };
    this.outbox.push(Buffer.concat([preface, settingsFrame(first)]));
    if (window > windowDefault) this.outbox.push(windowUpdateFrame(0, window - windowDefault));
  }

  #receive(chunk: Buffer): void {
    if (this.#hasFailed || this.destroyed) return;
    this.outbox.cork();
    try {
      this.#inbox.read(chunk);
      this.outbox.uncork();
      if (!this.#countHeld()) this.destroy();
    } catch (error) {
      const isPeers = error instanceof ConnectionError;
      // A fault of ours: it ends this connection, not the process, but must not go unnoticed.
      if (!isPeers) process.emitWarning(error as Error);
      this.#fail(isPeers ? error.code : errorCodes.internal);
    }
  }

  /** Returns whether there is room for what this peer makes us hold. */
  #countHeld(): boolean {
    const bytes = this.outbox.unreadBytes + this.#inbox.unfinishedBytes;
    const counted = Math.max(0, bytes - uncountedBytes);
    this.#held.shrinkTo(counted);
    return bytes <= heldBytesMax && (counted === this.#held.bytes || this.#held.grow(counted - this.#held.bytes));
  }

  /** Undefined if it has ended; its frames may still be on their way. */
  #find(streamId: number): Http2Stream | undefined {
    const stream = this.streams.get(streamId);
    if (!stream && !this.hasBegun(streamId)) throw protocolError("A frame of a stream that has not begun");
    return stream;
  }

  /** Also counts what arrives for streams that have ended. */
  #countReceived(bytes: number): void {
    this.#receiveWindow -= bytes;
    const growth = growthOf(this.#receiveWindow, this.#side.window);
    if (growth === 0) return;
    this.outbox.push(windowUpdateFrame(0, growth));
    this.#receiveWindow += growth;
  }

  #countReceivedOf(stream: Http2Stream, bytes: number): void {
    stream.receiveWindow -= bytes;
    const growth = growthOf(stream.receiveWindow, this.#side.streamWindow);
    if (growth === 0) return;
    this.outbox.push(windowUpdateFrame(stream.id, growth));
    stream.receiveWindow += growth;
  }

  #fail(code: number): void {
    this.#hasFailed = true;
    this.outbox.push(goawayFrame(this.lastStreamId, code));
    this.outbox.uncork();
    this.#end();
    this.#destroySoon();
  }

  #endIfDone(): void {
    if (this.#isClosing && this.streams.size === 0) this.#end();
  }

  /**
   * The peer may take its time to read what is left; but one that has never sent anything might not be there at all.
   */
  #end(): void {
    if (this.destroyed || this.#socket.writableEnded) return;
    this.outbox.flush();
    this.#socket.end(() => this.#destroySoon());
    if (!this.#inbox.hasSettings) this.#destroySoon();
  }

  #destroySoon(): void {
    setTimeout(() => this.destroy(), lingerMs).unref();
  }
}

/** The error code for faulty data; undefined if there is no fault. */
function faultOf({ hasReceivedAll, missingBytes }: Http2Stream): number | undefined {
  if (hasReceivedAll) return errorCodes.streamClosed;
  return missingBytes < 0 ? errorCodes.protocol : undefined;
}

/** A window is enlarged before it is used up: how much may arrive is limited elsewhere. */
function growthOf(left: number, full: number): number {
  return left > full / 2 ? 0 : full - left;
}
