/** More than the end of a stream takes that tells the usage. */
const tailBytes = 4 * 1024;

/** The last bytes of an answer. Copied: thousands of small pieces that are kept weigh many times what they hold. */
export class AnswerTail {
  /** As it came, while there is but one piece. */
  #only: Buffer | undefined;
  #kept: Buffer | undefined;
  #length = 0;
  #first = "";

  add(chunk: Buffer): void {
    if (this.#kept) this.#append(this.#kept, chunk);
    else if (this.#only) this.#keep(this.#only, chunk);
    else this.#only = chunk;
  }

  /** The first piece of several. Of Anthropic's streams it tells how many tokens were read. */
  get first(): string {
    return this.#first;
  }

  /** The beginning of the first piece. */
  get start(): string {
    return this.#only?.toString("latin1", 0, tailBytes) ?? this.#first;
  }

  /** As Latin-1: one character for each byte. */
  text(): string {
    const only = this.#only;
    if (only) return only.toString("latin1", Math.max(0, only.length - tailBytes));
    return this.#kept?.toString("latin1", Math.max(0, this.#length - tailBytes), this.#length) ?? "";
  }

  #keep(first: Buffer, second: Buffer): void {
    this.#only = undefined;
    this.#first = first.toString("latin1", 0, tailBytes);
    this.#kept = Buffer.allocUnsafeSlow(2 * tailBytes);
    this.#append(this.#kept, first);
    this.#append(this.#kept, second);
  }

  #append(kept: Buffer, chunk: Buffer): void {
    const added = chunk.length > tailBytes ? chunk.subarray(-tailBytes) : chunk;
    if (this.#length + added.length > kept.length) {
      kept.copyWithin(0, this.#length - tailBytes, this.#length);
      this.#length = tailBytes;
    }
    kept.set(added, this.#length);
    this.#length += added.length;
  }
}
