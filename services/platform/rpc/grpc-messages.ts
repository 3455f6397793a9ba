import type { DescMessage, DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import { writeMessage } from "../protobuf/messages.ts";

export function grpcPathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}

/** Before each message: whether it is compressed, and how long it is. */
export const prefixBytes = 5;

/** A message in wire format. */
export function frameOf<Desc extends DescMessage>(descriptor: Desc, message: MessageInitShape<Desc>): Buffer {
  const frame = writeMessage(descriptor, message, prefixBytes);
  frame[0] = 0;
  frame.writeUInt32BE(frame.length - prefixBytes, 1);
  return frame;
}

interface MessageListener {
  onMessage(bytes: Buffer, isCompressed: boolean): void;
  /** Nothing more is read then. */
  onTooLarge(): void;
}

const noBytes = Buffer.alloc(0);

/** Assembles messages from chunks, which may be as small as a byte. */
export class MessageReader {
  readonly #bytesMax: number;
  readonly #listener: MessageListener;
  /** The beginning of a message, with room for more of it. */
  #buffer = noBytes;
  #byteCount = 0;

  constructor(bytesMax: number, listener: MessageListener) {
    this.#bytesMax = bytesMax;
    this.#listener = listener;
  }

  /** Whether a message has begun but is not complete. */
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
    // Nothing more is written to the buffer that a message is a part of.
    this.#buffer = bytes.length > 0 ? Buffer.from(bytes) : noBytes;
    this.#byteCount = bytes.length;
  }

  /** Doubles the buffer whenever it is full, so that each byte is copied only a few times on average. */
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
