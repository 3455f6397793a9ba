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

  /** Beyond the limit, small reservations get the spare bytes, so that a few large ones do not keep them out. */
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
   * Which budget has no room if a reservation grows by so many bytes: this one, or one that it is a share of. Undefined
   * if all have.
   */
  fullFor(bytes: number, reservedBytes = 0): ByteBudget | undefined {
    const isSmall = reservedBytes + bytes <= smallBytes;
    const maxBytes = isSmall ? this.maxBytes + this.#spareBytes : this.maxBytes;
    return this.#used + bytes > maxBytes ? this : this.#whole?.fullFor(bytes, reservedBytes);
  }

  /** Undefined if there is no room. */
  reserve(bytes: number): Reservation | undefined {
    const reservation = new Reservation(this);
    return reservation.grow(bytes) ? reservation : undefined;
  }

  /** For Reservation only. */
  take(bytes: number): void {
    this.#used += bytes;
    this.#whole?.take(bytes);
  }

  /** For Reservation only. */
  give(bytes: number): void {
    this.#used -= bytes;
    this.#whole?.give(bytes);
  }
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
    this.overdraw(bytes);
    return true;
  }

  /** For bytes that exist already and cannot be refused: they may exceed the budget. */
  overdraw(bytes: number): void {
    if (this.#isReleased) return;
    this.#budget.take(bytes);
    this.#bytes += bytes;
  }

  /** Gives back everything beyond so many bytes. */
  shrinkTo(bytes: number): void {
    if (bytes >= this.#bytes) return;
    this.#budget.give(this.#bytes - bytes);
    this.#bytes = bytes;
  }

  /** May be called more than once. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#budget.give(this.#bytes);
    this.#bytes = 0;
  }
}
