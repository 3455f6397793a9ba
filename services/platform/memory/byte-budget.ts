/** A reservation up to this size is a small one. */
export const smallBytes = 64 * 1024;

/**
 * Limits how many bytes may be held in memory at once. Reservations beyond the limit are refused; existing ones are not
 * affected. A budget may be a share of another one: then a reservation counts in both.
 */
export class ByteBudget {
  readonly maxBytes: number;
  readonly #whole: ByteBudget | undefined;
  readonly #spareBytes: number;
  #used = 0;
  /** By small reservations. */
  #usedBySmall = 0;

  /**
   * The spare bytes are beyond the limit, for small reservations, so that a few large ones do not keep them out. They do
   * not keep out large ones either, as long as they need no more than that.
   */
  constructor(maxBytes: number, { whole, spareBytes = 0 }: { whole?: ByteBudget; spareBytes?: number } = {}) {
    this.maxBytes = maxBytes;
    this.#whole = whole;
    this.#spareBytes = spareBytes;
  }

  /** Bytes that are reserved now. */
  get used(): number {
    return this.#used;
  }

  /**
   * Which budget has no room for a reservation that grows by so many bytes: this one, or one that it is a share of.
   * Undefined if all have.
   */
  fullFor(bytes: number, reservedBytes = 0): ByteBudget | undefined {
    const isSmall = reservedBytes + bytes <= smallBytes;
    const spareBytes = isSmall
      ? this.#spareBytes
      : Math.min(this.#spareBytes, this.#usedBySmall - smallPart(reservedBytes));
    if (this.#used + bytes > this.maxBytes + spareBytes) return this;
    return this.#whole?.fullFor(bytes, reservedBytes);
  }

  /** For Reservation only: one of them changes its size. */
  resize(from: number, to: number): void {
    this.#used += to - from;
    this.#usedBySmall += smallPart(to) - smallPart(from);
    this.#whole?.resize(from, to);
  }
}

/** How many of a reservation's bytes are those of a small one: all or none. */
function smallPart(bytes: number): number {
  return bytes <= smallBytes ? bytes : 0;
}

/** One holder's part of a budget. After its release it holds nothing, and never will again. */
export class Reservation {
  readonly #budget: ByteBudget;
  #bytes = 0;
  #isReleased = false;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Reserves so many more bytes and returns whether that was possible. If not, it holds what it held before. */
  grow(bytes: number): boolean {
    if (this.#isReleased || this.#budget.fullFor(bytes, this.#bytes)) return false;
    this.#resizeTo(this.#bytes + bytes);
    return true;
  }

  /** For bytes that exist already and cannot be refused: they may exceed the budget. */
  overdraw(bytes: number): void {
    if (!this.#isReleased) this.#resizeTo(this.#bytes + bytes);
  }

  /** Gives back everything beyond so many bytes. */
  shrinkTo(bytes: number): void {
    if (bytes < this.#bytes) this.#resizeTo(bytes);
  }

  /** May be called more than once. */
  release(): void {
    this.#isReleased = true;
    this.#resizeTo(0);
  }

  #resizeTo(bytes: number): void {
    this.#budget.resize(this.#bytes, bytes);
    this.#bytes = bytes;
  }
}
