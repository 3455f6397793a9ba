import { write, writeSync } from "node:fs";

const descriptor = 1;
/** So much is written at once; less waits a moment for more. */
const enoughBytes = 8 * 1024;
const pauseMs = 100;
/** What one write takes, about: to put more together would take time. */
const togetherBytes = 64 * 1024;
/** What may wait to be written; lines that come while there is more are dropped. */
const waitingBytesMax = 16 * 1024 * 1024;

/**
 * Standard output for lines that nobody waits for. Where they cannot be written, to a disk that is full or for a reader
 * that hangs or has gone, they wait within bounds until they can. Not pino's own destination: that keeps any number of
 * lines, throws what the disk says at the process, and then blocks it until there is room.
 */
export class StandardOutput {
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** What is left to write of what was put together last. */
  #begun = Buffer.alloc(0);
  #isWriting = false;
  #hasFailed = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #onFlushed: (() => void)[] = [];

  constructor() {
    process.on("exit", () => this.#writeLast());
  }

  write(line: string): void {
    if (this.#waitingBytes >= waitingBytesMax) return;
    const bytes = Buffer.from(line);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
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
    if (this.#begun.length === 0) this.#begun = this.#takeTogether();
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

  #takeTogether(): Buffer<ArrayBuffer> {
    let bytes = 0;
    let count = 0;
    while (count < this.#waiting.length && bytes < togetherBytes) {
      bytes += (this.#waiting[count] as Buffer).length;
      count += 1;
    }
    this.#waitingBytes -= bytes;
    return Buffer.concat(this.#waiting.splice(0, count), bytes);
  }

  #flushed(): void {
    for (const onDone of this.#onFlushed.splice(0)) onDone();
  }

  /** In the last moment of a process nothing is done in the background any more. What is under way is written already. */
  #writeLast(): void {
    let rest = Buffer.concat([...(this.#isWriting ? [] : [this.#begun]), ...this.#waiting]);
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
    } catch {
      // There is nobody left to tell.
    }
  }
}
