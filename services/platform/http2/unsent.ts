/** Data of a stream that waits for flow control or for the socket. */
export class Unsent {
  /** Sent after all data; undefined: the last data is the end. */
  trailers: Buffer | undefined;
  /** Whether nothing more will be added. */
  isEnding = false;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #onDrained: (() => void) | undefined;

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
  }

  /** Takes at most so many bytes, and at most one piece. There must be one. */
  take(bytesMax: number): Buffer {
    const [first] = this.#pieces as [Buffer];
    if (first.length <= bytesMax) this.#pieces.shift();
    else this.#pieces[0] = first.subarray(bytesMax);
    const taken = first.length <= bytesMax ? first : first.subarray(0, bytesMax);
    this.#bytes -= taken.length;
    if (this.#bytes === 0) this.#notifyDrained();
    return taken;
  }

  /** Nobody needs it any more. */
  drop(): void {
    this.#pieces.length = 0;
    this.#bytes = 0;
    this.#notifyDrained();
  }

  /** Waits until all data was taken, or never will be. */
  drained(): Promise<void> {
    if (this.#bytes === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onDrained = resolve;
    });
  }

  #notifyDrained(): void {
    this.#onDrained?.();
    this.#onDrained = undefined;
  }
}
