/** More than the last event of a stream takes where it tells the usage. */
const tailBytes = 16 * 1024;

/** The last bytes of an answer, kept as the pieces they came in. */
export class AnswerTail {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Of Anthropic's streams: how many tokens were read is told with the first event. */
  #first: Buffer | undefined;

  add(chunk: Buffer): void {
    this.#first ??= chunk;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes - (this.#chunks[0] as Buffer).length >= tailBytes) {
      this.#bytes -= (this.#chunks.shift() as Buffer).length;
    }
  }

  get first(): string {
    return this.#first?.toString("latin1", 0, tailBytes) ?? "";
  }

  text(): string {
    const bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    return bytes.toString("latin1", Math.max(0, bytes.length - tailBytes));
  }
}
