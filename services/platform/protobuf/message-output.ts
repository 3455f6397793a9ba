/** Room for nearly every message. */
const bytesAtFirst = 65_536;

/** Of a 32-bit number. */
const lengthBytesMax = 5;

/** A character takes three bytes at most, or two of them four. */
const bytesOfCharacterMax = 3;

const longText = 16_384;

/** Texts up to this length are written faster here than by Node's function, and their length is one byte. */
const shortTextMax = 40;

/** Writes values as the bytes of a message. */
export class MessageOutput {
  #bytes = Buffer.allocUnsafeSlow(bytesAtFirst);
  #at = 0;

  clear(): void {
    this.#at = 0;
    if (this.#bytes.length > bytesAtFirst) this.#bytes = Buffer.allocUnsafeSlow(bytesAtFirst);
  }

  /** A copy of what was written, preceded by so much room. */
  copy(roomBytes: number): Buffer {
    const copy = Buffer.allocUnsafe(roomBytes + this.#at);
    this.#bytes.copy(copy, roomBytes, 0, this.#at);
    return copy;
  }

  uint32(value: number): void {
    this.#reserve(lengthBytesMax);
    this.#at = this.#putUint32(value, this.#at);
  }

  int64(value: bigint): void {
    this.#reserve(10);
    let rest = BigInt.asUintN(64, value);
    // BigInts are slow, and a time has few bits.
    while (rest > 0x7fff_ffffn) {
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#at = this.#putUint32(Number(rest), this.#at);
  }

  bytes(value: Uint8Array): void {
    this.uint32(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  text(value: string): void {
    const { length } = value;
    // Measuring a text takes longer than reserving room for the worst case, unless that is large.
    this.#reserve(lengthBytesMax + (length < longText ? bytesOfCharacterMax * length : Buffer.byteLength(value)));
    if (length <= shortTextMax && this.#putShortAscii(value)) return;
    const guessed = byteCountOf(length);
    const byteCount = this.#bytes.write(value, this.#at + guessed);
    this.#putLength(byteCount, guessed);
  }

  /** Begins a length-delimited value, for whose length so much room is left. Returns what is needed to end it. */
  begin(roomBytes: number): number {
    this.#reserve(lengthBytesMax);
    const start = this.#at;
    this.#at += roomBytes;
    return start;
  }

  /** Returns how many bytes its length took, which is a good guess for the next value of its kind. */
  end(start: number, roomBytes: number): number {
    this.#reserve(lengthBytesMax);
    const byteCount = this.#at - start - roomBytes;
    this.#at = start;
    return this.#putLength(byteCount, roomBytes);
  }

  /** Writes a length before as many bytes that follow the room left for it. */
  #putLength(byteCount: number, roomBytes: number): number {
    const lengthBytes = byteCountOf(byteCount);
    const start = this.#at + roomBytes;
    if (lengthBytes !== roomBytes) this.#bytes.copyWithin(this.#at + lengthBytes, start, start + byteCount);
    this.#at = this.#putUint32(byteCount, this.#at) + byteCount;
    return lengthBytes;
  }

  #putUint32(value: number, at: number): number {
    let [rest, next] = [value >>> 0, at];
    while (rest > 0x7f) {
      this.#bytes[next++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[next++] = rest;
    return next;
  }

  /** False if the text is not ASCII; nothing is written then. */
  #putShortAscii(value: string): boolean {
    const start = this.#at + 1;
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false;
      this.#bytes[start + index] = code;
    }
    this.#bytes[this.#at] = value.length;
    this.#at = start + value.length;
    return true;
  }

  #reserve(byteCount: number): void {
    const needed = this.#at + byteCount;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

/** The encoded size of a length. */
function byteCountOf(length: number): number {
  if (length < 0x80) return 1;
  if (length < 0x4000) return 2;
  if (length < 0x20_0000) return 3;
  return length < 0x1000_0000 ? 4 : 5;
}
