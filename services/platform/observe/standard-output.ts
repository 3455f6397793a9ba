import { write, writeSync } from "node:fs";

const descriptor = 1;
/** So much is written at once; less waits a moment for more. */
const enoughBytes = 8 * 1024;
const pauseMs = 100;
/** Lines are put together in pieces of this size, which is about what one write takes. */
const pieceBytes = 64 * 1024;
/** The most that a character takes. */
const characterBytes = 3;
/** What may wait to be written; lines that come while there is more are dropped. */
const waitingBytesMax = 16 * 1024 * 1024;

/**
 * Standard output for lines that nobody waits for. Where they cannot be written, to a disk that is full or for a reader
 * that hangs or has gone, they wait within bounds until they can. Not pino's own destination: that keeps any number of
 * lines, throws what the disk says at the process, and then blocks it until there is room.
 */
export class StandardOutput {
  /** Pieces that are full. */
  readonly #waiting: Buffer[] = [];
  /** Of all that waits, in this piece, too. */
  #waitingBytes = 0;
  /** Where lines are put together. What stands ahead of `#from` has been taken to be written. */
  #piece = Buffer.allocUnsafeSlow(pieceBytes);
  #from = 0;
  #to = 0;
  /** What is left to write of what was taken last. */
  #begun: Buffer = Buffer.alloc(0);
  #isWriting = false;
  #hasFailed = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #onFlushed: (() => void)[] = [];

  constructor() {
    process.on("exit", () => this.#writeLast());
  }

  write(line: string): void {
    if (this.#waitingBytes >= waitingBytesMax) return;
    if (!this.#hasRoomFor(line)) this.#beginPiece(Buffer.byteLength(line));
    const bytes = this.#piece.write(line, this.#to);
    this.#to += bytes;
    this.#waitingBytes += bytes;
    if (this.#isWriting) return;
    if (this.#waitingBytes >= enoughBytes && !this.#hasFailed) this.#writeNext();
    else this.#writeLater();
  }

  /** Calls back once all is written, or cannot be. */
  flush(onDone: () => void): void {
    this.#onFlushed.push(onDone);
    if (!this.#isWriting) this.#writeNext();
  }

  #writeLater(): void {
    this.#timer ??= setTimeout(() => this.#writeNext(), pauseMs).unref();
  }

  #writeNext(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#begun.length === 0) {
      this.#begun = this.#waiting.shift() ?? this.#takeLines();
      this.#waitingBytes -= this.#begun.length;
    }
    if (this.#begun.length === 0) {
      this.#flushed();
      return;
    }
    this.#isWriting = true;
    write(descriptor, this.#begun, this.#written);
  }

  readonly #written = (error: Error | null, bytes: number): void => {
    this.#isWriting = false;
    this.#hasFailed = error !== null;
    if (error) {
      this.#writeLater();
      this.#flushed();
      return;
    }
    this.#begun = this.#begun.subarray(bytes);
    const isAwaited = this.#onFlushed.length > 0;
    if (this.#begun.length > 0 || this.#waitingBytes >= enoughBytes || isAwaited) this.#writeNext();
    else if (this.#waitingBytes > 0) this.#writeLater();
  };

  #hasRoomFor(line: string): boolean {
    const room = this.#piece.length - this.#to;
    return line.length * characterBytes <= room || Buffer.byteLength(line) <= room;
  }

  #beginPiece(bytesMin: number): void {
    if (this.#from < this.#to) this.#waiting.push(this.#takeLines());
    this.#piece = Buffer.allocUnsafeSlow(Math.max(pieceBytes, bytesMin));
    this.#from = this.#to = 0;
  }

  #takeLines(): Buffer {
    const lines = this.#piece.subarray(this.#from, this.#to);
    this.#from = this.#to;
    return lines;
  }

  #flushed(): void {
    for (const onDone of this.#onFlushed.splice(0)) onDone();
  }

  /** In the last moment of a process nothing is done in the background any more. What is under way is written already. */
  #writeLast(): void {
    let rest = Buffer.concat([...(this.#isWriting ? [] : [this.#begun]), ...this.#waiting, this.#takeLines()]);
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
    } catch {
      // There is nobody left to tell.
    }
  }
}
