import { isUtf8 } from "node:buffer";
import { BinaryReader, type WireType } from "@bufbuild/protobuf/wire";

export interface UnknownField {
  readonly no: number;
  readonly wireType: WireType;
  readonly data: Uint8Array;
}

const tagBytesMax = 5;
const varintBytesMax = 10;

/** Nested groups. Nobody sends any, and the library accepts fewer than a hundred, and fewer the deeper they are. */
const groupDepthMax = 90;

/** Reads values from the bytes of a message. Throws if they end too early or are invalid. */
export class MessageInput {
  readonly #bytes: Buffer;
  #at = 0;
  /** The end of the message that is being read, which may be part of another. */
  #end: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#end = bytes.length;
  }

  get hasMore(): boolean {
    return this.#at < this.#end;
  }

  /** A field's number and wire type, combined. */
  tag(): number {
    const start = this.#at;
    const tag = this.uint32();
    const byteCount = this.#at - start;
    const isTooLarge =
      byteCount > tagBytesMax || (byteCount === tagBytesMax && (this.#bytes[this.#at - 1] ?? 0) > 0x0f);
    if (isTooLarge || tag >>> 3 === 0) throw unreadable();
    return tag;
  }

  /** More than 32 bits are truncated, as is usual. */
  uint32(): number {
    let byte = this.#byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; shift < 32; shift += 7) {
      byte = this.#byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    for (let count = tagBytesMax; count < varintBytesMax; count += 1) {
      if (this.#byte() < 0x80) return value >>> 0;
    }
    throw unreadable();
  }

  int64(): bigint {
    let value = 0;
    let factor = 1;
    // As many bits as a number holds.
    for (let count = 0; count < 7; count += 1) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return BigInt(value);
      factor *= 0x80;
    }
    let long = BigInt(value);
    for (let count = 7; count < varintBytesMax; count += 1) {
      const byte = this.#byte();
      long |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) return BigInt.asIntN(64, long);
    }
    throw unreadable();
  }

  bytes(): Buffer {
    const start = this.#pass();
    return this.#bytes.subarray(start, this.#at);
  }

  text(): string {
    const start = this.#pass();
    const text = this.#bytes.toString("utf8", start, this.#at);
    // The replacement character means invalid UTF-8, unless it was sent itself.
    if (text.includes("\ufffd") && !isUtf8(this.#bytes.subarray(start, this.#at))) throw unreadable();
    return text;
  }

  /** Enters a length-delimited value. Returns what is needed to leave it again. */
  enter(): number {
    const outerEnd = this.#end;
    const start = this.#pass();
    this.#end = this.#at;
    this.#at = start;
    return outerEnd;
  }

  leave(outerEnd: number): void {
    this.#end = outerEnd;
  }

  unknownField(tag: number): UnknownField {
    const [no, wireType] = [tag >>> 3, tag & 7];
    const reader = new BinaryReader(this.#bytes.subarray(this.#at, this.#end));
    const data = reader.skip(wireType, no, groupDepthMax);
    this.#at += reader.pos;
    return { no, wireType, data };
  }

  #byte(): number {
    const byte = this.#at < this.#end ? this.#bytes[this.#at] : undefined;
    if (byte === undefined) throw unreadable();
    this.#at += 1;
    return byte;
  }

  /** Skips a length-delimited value, and returns where it begins. */
  #pass(): number {
    const length = this.uint32();
    const start = this.#at;
    if (length > this.#end - start) throw unreadable();
    this.#at = start + length;
    return start;
  }
}

export function unreadable(): Error {
  return new Error("These bytes are no message.");
}
