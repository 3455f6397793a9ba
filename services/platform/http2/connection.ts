import type { Socket } from "node:net";
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
import { ConnectionError, errorCodes, frameBytesMax, settings, windowDefault, windowMax } from "./protocol.ts";
import { Http2Stream, type StreamListener, type StreamOwner } from "./stream.ts";

export interface ConnectionListener {
  /** The peer has said its first word. */
  onReady?(): void;
  /** The peer takes no more streams. */
  onGoaway?(): void;
  /** Once; every stream has been told before. */
  onClose(): void;
}

/** In what the two sides differ from the beginning. */
interface Side {
  /** What each sends before its first frame. */
  readonly greeting: Buffer;
  readonly peerGreeting: Buffer;
  readonly settings: Parameters<typeof settingsFrame>[0];
  /** How much the peer may send before it must wait: on a stream, and on all together. */
  readonly streamWindow: number;
  readonly window: number;
}

/** How long a connection that has ended politely may take to close. */
const lingerMs = 1_000;
const frameBytesLimit = 2 ** 24 - 1;

/**
 * One connection of HTTP/2 (RFC 9113), as far as both sides do the same. Of our own, because `node:http2` takes longer for
 * a small call than everything else that is done for it.
 */
export abstract class Http2Connection implements StreamOwner, InboxListener {
  protected readonly outbox: Outbox;
  protected readonly streams = new Map<number, Http2Stream>();
  /** Of those that the client has begun; a server begins none. */
  protected newestStreamId = 0;
  readonly #socket: Socket;
  readonly #inbox: Inbox;
  readonly #listener: ConnectionListener;
  readonly #side: Side;
  #receiveWindow: number;
  /** The last of the settings that are being read. */
  #nextStreamWindow = windowDefault;
  readonly #onPingAnswers: (() => void)[] = [];
  #isClosing = false;
  /** Whether it said its last word because of what the peer did. */
  #hasFailed = false;
  #isClosed = false;

  constructor(socket: Socket, side: Side, listener: ConnectionListener) {
    this.#socket = socket;
    this.#side = side;
    this.#listener = listener;
    this.#receiveWindow = side.window;
    this.#inbox = new Inbox(side.peerGreeting, this);
    this.outbox = new Outbox(socket, (stream) => this.sentAll(stream));
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    // Told by its close. But an error that nobody listens to would end the process.
    socket.on("error", () => {});
    socket.on("end", () => this.destroy());
    socket.on("close", () => this.#closed());
    // Someone may have looked at its first byte, and stopped it.
    socket.resume();
    this.#greet();
  }

  /** Whether it takes no more streams. */
  get isClosing(): boolean {
    return this.#isClosing || this.#hasFailed || this.destroyed;
  }

  get destroyed(): boolean {
    return this.#isClosed || this.#socket.destroyed;
  }

  /** Asks whether the peer is there. */
  ping(onAnswer: () => void): void {
    this.#onPingAnswers.push(onAnswer);
    this.outbox.push(pingFrame(Buffer.alloc(8), false));
  }

  /** Ends once its streams have. */
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

  sendWaiting(stream: Http2Stream): void {
    if (stream.id !== 0) this.outbox.data(stream);
  }

  reset(stream: Http2Stream, code: number): void {
    if (stream.id !== 0) this.outbox.push(rstStreamFrame(stream.id, code));
    this.end(stream, code);
  }

  onFirstSettings(): void {
    this.#listener.onReady?.();
  }

  onHeaders(streamId: number, fields: readonly Field[], isLast: boolean): void {
    const stream = this.streams.get(streamId);
    if (!stream) this.onHeadersOfNone(streamId, fields, isLast);
    else if (stream.hasReceivedAll) this.reset(stream, errorCodes.streamClosed);
    else this.onHeadersOf(stream, fields, isLast);
  }

  onData(streamId: number, data: Buffer, windowBytes: number, isLast: boolean): void {
    this.#countReceived(windowBytes);
    const stream = this.#find(streamId);
    if (!stream) return;
    stream.missingBytes -= data.length;
    stream.receiveWindow -= windowBytes;
    const fault = faultOf(stream);
    if (fault !== undefined) {
      this.reset(stream, fault);
      return;
    }
    if (!isLast && stream.receiveWindow <= this.#side.streamWindow / 2) {
      this.outbox.push(windowUpdateFrame(streamId, this.#side.streamWindow - stream.receiveWindow));
      stream.receiveWindow = this.#side.streamWindow;
    }
    if (data.length > 0) stream.listener.onData(data);
    if (isLast && !stream.isClosed) this.receivedAll(stream);
  }

  onReset(streamId: number, code: number): void {
    const stream = this.#find(streamId);
    if (!stream) return;
    this.onResetOf(stream);
    this.end(stream, code);
  }

  onSetting(id: number, value: number): void {
    if (id === settings.enablePush && value > 1) throw broken("A setting is neither 0 nor 1");
    // Ours need not be larger than all may be.
    if (id === settings.maxFrameSize && (value < frameBytesMax || value > frameBytesLimit)) {
      throw broken("A frame cannot be of that size");
    }
    if (id !== settings.initialWindowSize) return;
    if (value > windowMax) throw tooLargeWindow();
    this.#nextStreamWindow = value;
  }

  onAllSettings(): void {
    if (this.#nextStreamWindow !== this.outbox.streamWindow) this.#resizeWindows(this.#nextStreamWindow);
    this.outbox.push(settingsAckFrame());
  }

  onPing(payload: Buffer): void {
    this.outbox.push(pingFrame(payload, true));
  }

  onPingAnswer(): void {
    this.#onPingAnswers.shift()?.();
  }

  onGoaway(_lastStreamId: number): void {
    this.#isClosing = true;
    this.#listener.onGoaway?.();
    this.#endIfDone();
  }

  onWindowUpdate(streamId: number, bytes: number): void {
    if (streamId === 0) {
      if (bytes === 0) throw broken("A window grows by nothing");
      if (!this.outbox.allow(bytes)) throw tooLargeWindow();
      return;
    }
    const stream = this.#find(streamId);
    if (!stream) return;
    stream.sendWindow += bytes;
    if (bytes === 0) this.reset(stream, errorCodes.protocol);
    else if (stream.sendWindow > windowMax) this.reset(stream, errorCodes.flowControl);
    else if (stream.writableLength > 0) this.outbox.data(stream);
  }

  /** Headers of a stream that is not open: it may be a new one. */
  protected abstract onHeadersOfNone(streamId: number, fields: readonly Field[], isLast: boolean): void;
  protected abstract onHeadersOf(stream: Http2Stream, fields: readonly Field[], isLast: boolean): void;
  protected abstract onResetOf(stream: Http2Stream): void;
  /** Our side of a stream has ended. */
  protected abstract sentAll(stream: Http2Stream): void;
  /** Which stream of the peer is the last that may have been worked on. */
  protected abstract readonly lastStreamId: number;

  protected newStream(listener: StreamListener): Http2Stream {
    return new Http2Stream(this, listener);
  }

  protected open(id: number, stream: Http2Stream): void {
    stream.id = id;
    stream.sendWindow = this.outbox.streamWindow;
    stream.receiveWindow = this.#side.streamWindow;
    this.streams.set(id, stream);
  }

  protected receivedAll(stream: Http2Stream): void {
    if (stream.missingBytes > 0) {
      this.reset(stream, errorCodes.protocol);
      return;
    }
    stream.hasReceivedAll = true;
    stream.listener.onEnd();
    if (stream.hasSentAll && !stream.isClosed) this.end(stream, errorCodes.none);
  }

  protected end(stream: Http2Stream, code: number): void {
    this.streams.delete(stream.id);
    this.outbox.forget(stream);
    stream.close(code);
    this.#endIfDone();
  }

  protected hasBegun(streamId: number): boolean {
    return streamId % 2 === 1 && streamId <= this.newestStreamId;
  }

  #greet(): void {
    const { greeting, settings: own, streamWindow, window } = this.#side;
    const first = { ...own, initialWindowSize: streamWindow, maxHeaderListSize: headerListBytesMax };
    this.outbox.push(Buffer.concat([greeting, settingsFrame(first)]));
    if (window > windowDefault) this.outbox.push(windowUpdateFrame(0, window - windowDefault));
  }

  #receive(chunk: Buffer): void {
    if (this.#isClosed || this.#hasFailed) return;
    this.outbox.hold();
    try {
      this.#inbox.read(chunk);
      this.outbox.release();
      if (this.outbox.isFlooded) this.destroy();
    } catch (error) {
      this.#fail(error instanceof ConnectionError ? error.code : errorCodes.internal);
    }
  }

  /** Undefined where it has ended, whose frames may still be on their way. */
  #find(streamId: number): Http2Stream | undefined {
    const stream = this.streams.get(streamId);
    if (!stream && !this.hasBegun(streamId)) throw broken("A frame of a stream that has not begun");
    return stream;
  }

  /** Also what nobody waits for. The window grows before it can be used up: how much may come is decided elsewhere. */
  #countReceived(bytes: number): void {
    this.#receiveWindow -= bytes;
    if (this.#receiveWindow > this.#side.window / 2) return;
    this.outbox.push(windowUpdateFrame(0, this.#side.window - this.#receiveWindow));
    this.#receiveWindow = this.#side.window;
  }

  #resizeWindows(value: number): void {
    const difference = value - this.outbox.streamWindow;
    this.outbox.streamWindow = value;
    for (const stream of this.streams.values()) {
      stream.sendWindow += difference;
      if (stream.sendWindow > windowMax) throw tooLargeWindow();
      if (stream.writableLength > 0) this.outbox.data(stream);
    }
  }

  #fail(code: number): void {
    this.#hasFailed = true;
    this.outbox.push(goawayFrame(this.lastStreamId, code));
    this.outbox.release();
    this.#end();
  }

  #endIfDone(): void {
    if (this.#isClosing && this.streams.size === 0) this.#end();
  }

  #end(): void {
    if (this.destroyed || this.#socket.writableEnded) return;
    this.outbox.flush();
    this.#socket.end();
    setTimeout(() => this.destroy(), lingerMs).unref();
  }

  #closed(): void {
    this.#isClosed = true;
    const streams = [...this.streams.values()];
    this.streams.clear();
    for (const stream of streams) stream.close(undefined);
    this.#listener.onClose();
  }
}

/** What is wrong with the data that has come. */
function faultOf({ hasReceivedAll, missingBytes }: Http2Stream): number | undefined {
  if (hasReceivedAll) return errorCodes.streamClosed;
  return missingBytes < 0 ? errorCodes.protocol : undefined;
}

function broken(message: string): ConnectionError {
  return new ConnectionError(errorCodes.protocol, message);
}

function tooLargeWindow(): ConnectionError {
  return new ConnectionError(errorCodes.flowControl, "A window is too large");
}
