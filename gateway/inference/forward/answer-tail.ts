/** More than the events at the end of a stream take that tell the usage. */
const tailBytes = 4 * 1024;

/** The last bytes of an answer. They are copied: thousands of small pieces would take many times the memory of what they hold. */
export class AnswerTail {
  /** The first piece as it came, as long as there is no second. */
  #only: Buffer | undefined;
  #kept: Buffer | undefined;
  #length = 0;
  #first = "";

  add(chunk: Buffer): void {
    if (this.#kept) this.#append(this.#kept, chunk);
    else if (this.#only) this.#keep(this.#only, chunk);
    else this.#only = chunk;
  }

  /** The first piece, once there are several. In Anthropic's streams it tells how many tokens were read. */
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
