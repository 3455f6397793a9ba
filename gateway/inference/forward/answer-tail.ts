/** More than the events at the end of a stream take that report the usage. */
const tailBytes = 4 * 1024;
/** Enough to tell which event it is. */
const eventStartMax = 100;

/**
 * The last bytes of an answer. They are copied: keeping thousands of small chunks would take many times the memory of
 * their content.
 */
export class AnswerTail {
  /** The first chunk as it came, until there is a second. */
  #only: Buffer | undefined;
  #kept: Buffer | undefined;
  #length = 0;
  #start = "";
  /** The last chunk, if it is so long that only the end of it is copied. */
  #long: Buffer | undefined;

  add(chunk: Buffer): void {
    if (this.#kept) {
      if (!this.#start) this.#start = startOf(chunk);
      this.#append(this.#kept, chunk);
    } else if (this.#only) this.#keep(this.#only, chunk);
    else this.#only = chunk;
  }

  /**
   * The beginning of the first chunk that is more than comments. In Anthropic's streams it reports the number of input
   * tokens.
   */
  get start(): string {
    return this.#only?.toString("latin1", 0, tailBytes) ?? this.#start;
  }

  /** The beginning of the last event, of chunks that end with whole ones. */
  get lastEvent(): string {
    return lastEventIn((this.#only ?? this.#long)?.toString("latin1") ?? this.text());
  }

  /** As Latin-1: one character for each byte. */
  text(): string {
    const only = this.#only;
    if (only) return only.toString("latin1", Math.max(0, only.length - tailBytes));
    return this.#kept?.toString("latin1", Math.max(0, this.#length - tailBytes), this.#length) ?? "";
  }

  #keep(first: Buffer, second: Buffer): void {
    this.#only = undefined;
    this.#start = startOf(first) || startOf(second);
    this.#kept = Buffer.allocUnsafeSlow(2 * tailBytes);
    this.#append(this.#kept, first);
    this.#append(this.#kept, second);
  }

  #append(kept: Buffer, chunk: Buffer): void {
    this.#long = chunk.length > tailBytes ? chunk : undefined;
    const added = this.#long ? chunk.subarray(-tailBytes) : chunk;
    if (this.#length + added.length > kept.length) {
      kept.copyWithin(0, this.#length - tailBytes, this.#length);
      this.#length = tailBytes;
    }
    kept.set(added, this.#length);
    this.#length += added.length;
  }
}

/** Empty if it contains no JSON: some upstreams send comments before the first event, to keep the connection open. */
function startOf(chunk: Buffer): string {
  const start = chunk.toString("latin1", 0, tailBytes);
  return start.includes("{") ? start : "";
}

/** Events end with a blank line, of whichever line ends. */
function lastEventIn(text: string): string {
  const whole = text.trimEnd();
  const before = Math.max(...["\n\n", "\n\r\n", "\r\r"].map((blankLine) => whole.lastIndexOf(blankLine)));
  return whole
    .slice(before + 1)
    .trimStart()
    .slice(0, eventStartMax);
}
