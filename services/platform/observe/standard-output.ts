import { write, writeSync } from "node:fs";
import { LineBuffer } from "./line-buffer.ts";

const descriptor = 1;
/** This much is written at once; less waits a moment for more. */
const enoughBytes = 8 * 1024;
const pauseMs = 100;
/** How much may wait to be written; further lines are lost. */
const waitingBytesMax = 16 * 1024 * 1024;

/**
 * Standard output for lines that nobody waits for. If they cannot be written, because the disk is full or the reader
 * hangs or has gone, they wait, within bounds, until they can. Not pino's own destination: that keeps any number of
 * lines, throws disk errors at the process, and then blocks it until there is room.
 */
export class StandardOutput {
  readonly #lines = new LineBuffer();
  /** The unwritten rest of what was taken last. */
  #begun: Buffer = Buffer.alloc(0);
  /** After a failed write there is a pause, however many lines wait. */
  #state: "idle" | "writing" | "failed" = "idle";
  #timer: NodeJS.Timeout | undefined;
  readonly #onFlushed: (() => void)[] = [];
  /** Lines that were lost since the last one that was not. */
  #lost = 0;
  readonly #onLost: (lines: number) => void;

  /** `onLost` may write a line about it: when it is called, there is room again. */
  constructor(onLost: (lines: number) => void) {
    this.#onLost = onLost;
    process.on("exit", () => this.#writeLast());
  }

  write(line: string): void {
    if (this.#lines.bytes >= waitingBytesMax) {
      this.#lost += 1;
      return;
    }
    if (this.#lost > 0) this.#reportLost();
    this.#lines.add(line);
    if (this.#state === "writing") return;
    if (this.#state === "idle" && this.#lines.bytes >= enoughBytes) this.#writeNext();
    else this.#writeLater();
  }

  /** Calls back once everything is written, or cannot be. */
  flush(onDone: () => void): void {
    this.#onFlushed.push(onDone);
    if (this.#state !== "writing") this.#writeNext();
  }

  #reportLost(): void {
    const lines = this.#lost;
    this.#lost = 0;
    this.#onLost(lines);
  }

  #writeLater(): void {
    this.#timer ??= setTimeout(() => this.#writeNext(), pauseMs).unref();
  }

  #writeNext(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#begun.length === 0) this.#begun = this.#lines.take();
    if (this.#begun.length === 0) {
      this.#flushed();
      return;
    }
    this.#state = "writing";
    write(descriptor, this.#begun, this.#written);
  }

  readonly #written = (error: Error | null, bytes: number): void => {
    if (error) {
      this.#state = "failed";
      this.#writeLater();
      this.#flushed();
      return;
    }
    this.#state = "idle";
    this.#begun = this.#begun.subarray(bytes);
    const isAwaited = this.#onFlushed.length > 0;
    if (this.#begun.length > 0 || this.#lines.bytes >= enoughBytes || isAwaited) this.#writeNext();
    else if (this.#lines.bytes > 0) this.#writeLater();
  };

  #flushed(): void {
    for (const onDone of this.#onFlushed.splice(0)) onDone();
  }

  /** While a process exits, nothing is done in the background any more. */
  #writeLast(): void {
    try {
      // A write in flight is not repeated: it completes even then.
      if (this.#state !== "writing") writeWhole(this.#begun);
      for (let lines = this.#lines.take(); lines.length > 0; lines = this.#lines.take()) writeWhole(lines);
    } catch {
      // There is nobody left to tell.
    }
  }
}

function writeWhole(bytes: Buffer): void {
  let rest = bytes;
  while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
}
