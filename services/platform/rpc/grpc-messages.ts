import { type DescMessage, type DescMethod, type Message, toBinary } from "@bufbuild/protobuf";

export function grpcPathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}

/** Without a copy. */
export function encode(schema: DescMessage, message: Message): Buffer {
  const { buffer, byteOffset, byteLength } = toBinary(schema, message);
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Before each message: whether it is compressed, and how long it is. */
const prefixBytes = 5;

/** A message as it goes over the wire. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, prefixBytes);
  return frame;
}

interface MessageListener {
  onMessage(bytes: Buffer, isCompressed: boolean): void;
  /** Nothing is read any more. */
  onTooLarge(): void;
}

/** Puts messages together that come in pieces. */
export class MessageReader {
  readonly #bytesMax: number;
  readonly #listener: MessageListener;
  #parts: Buffer[] = [];
  #byteCount = 0;
  /** Of the message that is being read, once its beginning is there. */
  #messageBytes: number | undefined;

  constructor(bytesMax: number, listener: MessageListener) {
    this.#bytesMax = bytesMax;
    this.#listener = listener;
  }

  /** Whether a message has begun and not come to its end. */
  get isInside(): boolean {
    return this.#byteCount > 0;
  }

  read(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#byteCount += chunk.length;
    while (this.#byteCount >= prefixBytes + (this.#messageBytes ?? 0)) {
      const bytes = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
      this.#parts = [bytes];
      if (this.#messageBytes !== undefined) this.#finish(bytes, prefixBytes + this.#messageBytes);
      else if (!this.#begin(bytes)) return;
    }
  }

  #begin(bytes: Buffer): boolean {
    const messageBytes = bytes.readUInt32BE(1);
    if (messageBytes > this.#bytesMax) {
      this.#listener.onTooLarge();
      return false;
    }
    this.#messageBytes = messageBytes;
    return true;
  }

  #finish(bytes: Buffer, end: number): void {
    this.#messageBytes = undefined;
    this.#byteCount = bytes.length - end;
    this.#parts = this.#byteCount > 0 ? [bytes.subarray(end)] : [];
    this.#listener.onMessage(bytes.subarray(prefixBytes, end), bytes[0] !== 0);
  }
}
