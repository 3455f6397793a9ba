/**
 * Limits how many bytes may be held in memory at once. Reservations beyond the limit are refused; existing ones are not
 * affected. A budget may be a share of another one: then a reservation counts in both.
 */
export class ByteBudget {
  readonly maxBytes: number;
  readonly #whole: ByteBudget | undefined;
  #used = 0;

  constructor(maxBytes: number, whole?: ByteBudget) {
    this.maxBytes = maxBytes;
    this.#whole = whole;
  }

  /** Bytes that are reserved now. */
  get used(): number {
    return this.#used;
  }

  /** Whether so many more bytes fit into this budget alone, regardless of the one that it is a share of. */
  fits(bytes: number): boolean {
    return this.#used + bytes <= this.maxBytes;
  }

  /** Undefined if there is no room. */
  reserve(bytes: number): Reservation | undefined {
    const reservation = new Reservation(this);
    return reservation.grow(bytes) ? reservation : undefined;
  }

  /** For Reservation only. */
  take(bytes: number, mayOverdraw: boolean): boolean {
    if (!mayOverdraw && !this.fits(bytes)) return false;
    if (this.#whole && !this.#whole.take(bytes, mayOverdraw)) return false;
    this.#used += bytes;
    return true;
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
    return this.#take(bytes, false);
  }

  /** For bytes that exist already and cannot be refused: they may exceed the budget. */
  overdraw(bytes: number): void {
    this.#take(bytes, true);
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

  #take(bytes: number, mayOverdraw: boolean): boolean {
    if (this.#isReleased || !this.#budget.take(bytes, mayOverdraw)) return false;
    this.#bytes += bytes;
    return true;
  }
}
