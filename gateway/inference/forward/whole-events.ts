const [lineFeed, carriageReturn, colon] = [0x0a, 0x0d, 0x3a];

/** An event is held back until it is complete, up to this size. A larger one is sent as it comes. */
const keptBytesMax = 64 * 1024;

const nothing = Buffer.alloc(0);

/**
 * Passes on the events of a stream when they are complete: sent bytes cannot be taken back, and half an event would be
 * read as one together with whatever is sent after it. That delays no reader, because none can use half an event.
 */
export class WholeEvents {
  /** The beginning of an event, in the first `#length` bytes. */
  #kept = nothing;
  #length = 0;
  /** Whether a part was passed on of an event that is too large to be held back. */
  #isInside = false;

  /** Whether what was passed on ends with half an event. */
  get isInside(): boolean {
    return this.#isInside;
  }

  /** Whether all that came was passed on, and ends with a whole event. */
  get isBetweenEvents(): boolean {
    return !this.#isInside && this.#length === 0;
  }

  /** What can be sent now; undefined if there is nothing. */
  add(chunk: Buffer): Buffer | undefined {
    if (this.#length === 0 && endsEvent(chunk)) {
      this.#isInside = false;
      return chunk;
    }
    return this.#addPart(chunk);
  }

  /** The rest of a stream that has ended. */
  rest(): Buffer | undefined {
    return this.#take(this.#length);
  }

  #addPart(chunk: Buffer): Buffer | undefined {
    const from = this.#length;
    this.#keep(chunk);
    const end = this.#endOfLastEvent(from);
    if (end > 0) this.#isInside = false;
    if (!this.#isInside && this.#length - end <= keptBytesMax) return this.#take(end);
    this.#isInside = true;
    // A line end may be the beginning of the end of the event.
    return this.#take(isLineEnd(this.#kept[this.#length - 1]) ? this.#length - 1 : this.#length);
  }

  #keep(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#kept.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#kept.length));
      larger.set(this.#kept.subarray(0, this.#length));
      this.#kept = larger;
    }
    this.#kept.set(chunk, this.#length);
    this.#length = length;
  }

  /** Within the held bytes; those up to `from` were searched before. */
  #endOfLastEvent(from: number): number {
    const kept = this.#kept.subarray(0, this.#length);
    let end = endOfLastBlankLine(kept, Math.max(0, from - 1));
    if (end === 0 && this.#isInside) return 0;
    // Before an event, a comment is complete with its line. Some upstreams send comments as keep-alives.
    while (kept[end] === colon || isLineEnd(kept[end])) {
      // The part that was searched before contains no line end.
      let lineEnd = Math.max(end, from);
      while (lineEnd < kept.length && !isLineEnd(kept[lineEnd])) lineEnd++;
      if (lineEnd === kept.length) break;
      end = lineEnd + 1;
    }
    return end;
  }

  #take(count: number): Buffer | undefined {
    if (count === 0) return undefined;
    const taken = this.#kept.subarray(0, count);
    const left = this.#kept.subarray(count, this.#length);
    // A copy: what was taken may wait for its reader, and must not be overwritten.
    this.#kept = Buffer.from(left);
    this.#length = left.length;
    return taken;
  }
}

/** A line ends with CR, LF, or both in this order; an event with a line that is empty. */
function endsEvent(chunk: Buffer): boolean {
  let at = chunk.length - 1;
  const last = chunk[at];
  if (last === lineFeed) at -= chunk[at - 1] === carriageReturn ? 2 : 1;
  else if (last === carriageReturn) at -= 1;
  else return false;
  return isLineEnd(chunk[at]);
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === lineFeed || byte === carriageReturn;
}

/** 0 if there is none that ends after `from`. */
function endOfLastBlankLine(bytes: Buffer, from: number): number {
  for (let at = bytes.length - 1; at > from; at -= 1) {
    const byte = bytes[at];
    if (!isLineEnd(byte)) continue;
    const before = bytes[at - 1];
    if (before === lineFeed || (before === carriageReturn && byte === carriageReturn)) {
      return byte === carriageReturn && bytes[at + 1] === lineFeed ? at + 2 : at + 1;
    }
  }
  return 0;
}
