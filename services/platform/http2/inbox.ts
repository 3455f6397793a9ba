import { FrameReader } from "./frame-reader.ts";
import { HeaderDecoder, headerListBytesMax } from "./header-decoder.ts";
import type { Field } from "./header-table.ts";
import {
  ConnectionError,
  errorCodes,
  flags,
  flowControlError,
  frameBytesLimit,
  frameBytesMax,
  frameTypes,
  pingBytes,
  protocolError,
  settingBytes,
  settings,
  streamIdMax,
  windowMax,
} from "./protocol.ts";

/** Receives the frames of a peer. */
export interface InboxListener {
  /** Once, before everything else. */
  onFirstSettings(): void;
  /** `fields` is undefined if they exceed the maximum size. */
  onHeaders(streamId: number, fields: readonly Field[] | undefined, isLast: boolean): void;
  /** `windowBytes`: what it uses up of the windows, which is more than the data if that is padded. */
  onData(streamId: number, data: Buffer, windowBytes: number, isLast: boolean): void;
  onReset(streamId: number, code: number): void;
  /** By id (`settings`); if one occurs several times, the last counts. */
  onSettings(values: ReadonlyMap<number, number>): void;
  onPing(payload: Buffer): void;
  onPingAnswer(): void;
  onGoaway(lastStreamId: number): void;
  /** Stream 0 is the connection. */
  onWindowUpdate(streamId: number, bytes: number): void;
}

/** A header block that continues in the next frame. */
interface OpenBlock {
  readonly streamId: number;
  readonly isLast: boolean;
  readonly parts: Buffer[];
  bytes: number;
}

/** Encoded headers that are too large end their stream, and the whole connection if they are as large as this. */
const blockBytesMax = 4 * headerListBytesMax;
const priorityBytes = 5;
const goawayBytes = 8;
/** What keeping a frame takes beside its content, so that headers cannot continue forever in empty frames. */
const frameOverhead = 256;

/** Reads what arrives on one connection, and checks that every frame is valid by itself (RFC 9113, 4 and 6). */
export class Inbox {
  readonly #listener: InboxListener;
  readonly #reader = new FrameReader((type, bits, id, payload) => this.#onFrame(type, bits, id, payload));
  readonly #decoder = new HeaderDecoder();
  /** The part of the connection preface that has not arrived yet. */
  #preface: Buffer;
  #hasSettings = false;
  #block: OpenBlock | undefined;

  constructor(preface: Buffer, listener: InboxListener) {
    this.#preface = preface;
    this.#listener = listener;
  }

  /** Whether the peer has sent its first settings. */
  get hasSettings(): boolean {
    return this.#hasSettings;
  }

  /** What is kept of headers that are not complete yet. */
  get unfinishedBytes(): number {
    return this.#block?.bytes ?? 0;
  }

  /** Throws ConnectionError where the peer breaks a rule, and whatever the listener throws. */
  read(chunk: Buffer): void {
    if (this.#preface.length === 0) {
      this.#reader.read(chunk);
      return;
    }
    const length = Math.min(this.#preface.length, chunk.length);
    if (this.#preface.compare(chunk, 0, length, 0, length) !== 0) throw protocolError("This is no HTTP/2");
    this.#preface = this.#preface.subarray(length);
    this.#reader.read(chunk.subarray(length));
  }

  #onFrame(type: number, bits: number, streamId: number, payload: Buffer): void {
    if (!this.#hasSettings) {
      if (type !== frameTypes.settings || bits & flags.ack) throw protocolError("The first frame is not SETTINGS");
      this.#hasSettings = true;
      this.#listener.onFirstSettings();
    }
    if (this.#block && (type !== frameTypes.continuation || streamId !== this.#block.streamId)) {
      throw protocolError("Headers were not brought to their end");
    }
    if (isOfStream.get(type) === (streamId === 0)) throw protocolError("A frame of the wrong stream");
    switch (type) {
      case frameTypes.data:
        this.#listener.onData(streamId, unpadded(bits, payload), payload.length, (bits & flags.endStream) !== 0);
        break;
      case frameTypes.headers:
        this.#onHeaders(bits, streamId, payload);
        break;
      case frameTypes.continuation:
        this.#onContinuation(bits, payload);
        break;
      case frameTypes.priority:
        checkPriority(streamId, payload, payload.length === priorityBytes);
        break;
      case frameTypes.rstStream:
        this.#listener.onReset(streamId, numberIn(payload));
        break;
      case frameTypes.settings:
        this.#onSettings(bits, payload);
        break;
      case frameTypes.pushPromise:
        throw protocolError("Nobody asked for a push");
      case frameTypes.ping:
        checkLength(payload.length === pingBytes);
        if (bits & flags.ack) this.#listener.onPingAnswer();
        else this.#listener.onPing(payload);
        break;
      case frameTypes.goaway:
        checkLength(payload.length >= goawayBytes);
        this.#listener.onGoaway(payload.readUInt32BE(0) & streamIdMax);
        break;
      case frameTypes.windowUpdate:
        this.#listener.onWindowUpdate(streamId, numberIn(payload) & windowMax);
        break;
      // Frames of unknown types must be ignored.
    }
  }

  #onHeaders(bits: number, streamId: number, payload: Buffer): void {
    let block = unpadded(bits, payload);
    if (bits & flags.priority) {
      checkPriority(streamId, block, block.length >= priorityBytes);
      block = block.subarray(priorityBytes);
    }
    const isLast = (bits & flags.endStream) !== 0;
    if (bits & flags.endHeaders) this.#listener.onHeaders(streamId, this.#decoder.decode(block), isLast);
    else this.#block = { streamId, isLast, parts: [block], bytes: block.length };
  }

  #onContinuation(bits: number, payload: Buffer): void {
    const block = this.#block;
    if (!block) throw protocolError("Headers go on that have not begun");
    block.parts.push(payload);
    block.bytes += payload.length + frameOverhead;
    if (block.bytes > blockBytesMax) throw new ConnectionError(errorCodes.enhanceYourCalm, "Too many headers");
    if (!(bits & flags.endHeaders)) return;
    this.#block = undefined;
    this.#listener.onHeaders(block.streamId, this.#decoder.decode(Buffer.concat(block.parts)), block.isLast);
  }

  #onSettings(bits: number, payload: Buffer): void {
    const isAck = (bits & flags.ack) !== 0;
    checkLength(isAck ? payload.length === 0 : payload.length % settingBytes === 0);
    if (isAck) return;
    const values = new Map<number, number>();
    for (let start = 0; start < payload.length; start += settingBytes) {
      const id = payload.readUInt16BE(start);
      const value = payload.readUInt32BE(start + 2);
      checkSetting(id, value);
      values.set(id, value);
    }
    this.#listener.onSettings(values);
  }
}

/** Whether a frame belongs to a stream rather than to the connection. A window update may belong to either. */
const isOfStream: ReadonlyMap<number, boolean> = new Map([
  [frameTypes.data, true],
  [frameTypes.headers, true],
  [frameTypes.priority, true],
  [frameTypes.rstStream, true],
  [frameTypes.settings, false],
  [frameTypes.ping, false],
  [frameTypes.goaway, false],
  [frameTypes.continuation, true],
]);

/** The content of a frame without its padding. */
function unpadded(bits: number, payload: Buffer): Buffer {
  if (!(bits & flags.padded)) return payload;
  const padding = payload[0];
  checkLength(padding !== undefined);
  if (padding >= payload.length) throw protocolError("Nothing but padding");
  return payload.subarray(1, payload.length - padding);
}

function checkSetting(id: number, value: number): void {
  if (id === settings.enablePush && value > 1) throw protocolError("A setting is neither 0 nor 1");
  if (id === settings.initialWindowSize && value > windowMax) throw flowControlError();
  if (id === settings.maxFrameSize && (value < frameBytesMax || value > frameBytesLimit)) {
    throw protocolError("A frame cannot be of that size");
  }
}

function checkPriority(streamId: number, payload: Buffer, isLengthRight: boolean): void {
  checkLength(isLengthRight);
  if ((payload.readUInt32BE(0) & streamIdMax) === streamId) throw protocolError("A stream depends on itself");
}

function numberIn(payload: Buffer): number {
  checkLength(payload.length === 4);
  return payload.readUInt32BE(0);
}

function checkLength(isRight: boolean): asserts isRight {
  if (!isRight) throw new ConnectionError(errorCodes.frameSize, "A frame of another length");
}
