import type { DescMessage, DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import { writeMessage } from "../protobuf/messages.ts";

export function grpcPathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}

/** Before each message: whether it is compressed, and how long it is. */
export const prefixBytes = 5;

/** A message as it goes over the wire. */
export function frameOf<Desc extends DescMessage>(descriptor: Desc, message: MessageInitShape<Desc>): Buffer {
  const frame = writeMessage(descriptor, message, prefixBytes);
  frame[0] = 0;
  frame.writeUInt32BE(frame.length - prefixBytes, 1);
  return frame;
}

interface MessageListener {
  onMessage(bytes: Buffer, isCompressed: boolean): void;
  /** Nothing is read any more. */
  onTooLarge(): void;
}

const noBytes = Buffer.alloc(0);

/** Puts messages together that come in pieces, of which there may be one for every byte. */
export class MessageReader {
  readonly #bytesMax: number;
  readonly #listener: MessageListener;
  /** Holds the beginning of a message, and room for more of it. */
  #buffer = noBytes;
  #byteCount = 0;

  constructor(bytesMax: number, listener: MessageListener) {
    this.#bytesMax = bytesMax;
    this.#listener = listener;
  }

  /** Whether a message has begun and not come to its end. */
  get isInside(): boolean {
    return this.#byteCount > 0;
  }

  read(chunk: Buffer): void {
    let bytes = this.#byteCount === 0 ? chunk : this.#append(chunk);
    let isFirst = true;
    while (bytes.length >= prefixBytes) {
      const messageBytes = bytes.readUInt32BE(1);
      if (messageBytes > this.#bytesMax) {
        this.#listener.onTooLarge();
        return;
      }
      const end = prefixBytes + messageBytes;
      if (bytes.length < end) break;
      this.#listener.onMessage(bytes.subarray(prefixBytes, end), bytes[0] !== 0);
      bytes = bytes.subarray(end);
      isFirst = false;
    }
    if (isFirst && this.#byteCount > 0) return;
    // What a message is part of is not written to any more.
    this.#buffer = bytes.length > 0 ? Buffer.from(bytes) : noBytes;
    this.#byteCount = bytes.length;
  }

  /** Twice as large whenever it is full, so that no byte is copied often. */
  #append(chunk: Buffer): Buffer {
    const byteCount = this.#byteCount + chunk.length;
    if (byteCount > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(2 * byteCount);
      this.#buffer.copy(larger, 0, 0, this.#byteCount);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#byteCount);
    this.#byteCount = byteCount;
    return this.#buffer.subarray(0, byteCount);
  }
}
