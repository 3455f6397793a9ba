import { ByteBudget, Reservation } from "../memory/byte-budget.ts";
import { type Member, nowhere, TransientSet } from "../memory/transient-set.ts";
import { monotonicMs } from "../time/clock.ts";
import { afterArrivals } from "../time/next-turn.ts";

/** Where an answer is written to: an HTTP/2 stream, or a response of HTTP/1.1. */
interface Outlet {
  /** Bytes that were written and have not left yet. */
  readonly writableLength: number;
  destroy(): unknown;
}

interface Limits {
  /** Of all calls together. */
  readonly maxBytes: number;
  /** How long a request may take to arrive once half of the bytes are held. */
  readonly arrivalMaxMs: number;
  /** How long an answer waits for its reader. */
  readonly unreadMaxMs: number;
}

const defaultLimits: Limits = { maxBytes: 96 * 1024 * 1024, arrivalMaxMs: 2_000, unreadMaxMs: 30_000 };

/**
 * The bytes that calls hold: of requests that are being processed, and of answers that have not been read yet. If there
 * are too many, new calls are refused so that the others can finish. One connection may hold at most half of them, so
 * that a client that keeps sending, or does not read its answers, leaves room for the others. Once half of them are
 * held, requests that take long to arrive are dropped.
 */
export class CallBytes {
  readonly #limits: Limits;
  readonly #all: ByteBudget;
  readonly #byConnection = new WeakMap<object, ByteBudget>();
  readonly #arriving = new TransientSet<CallReservation>();
  readonly #answered = new TransientSet<CallReservation>();
  readonly #sweep: NodeJS.Timeout;

  constructor(limits: Partial<Limits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#all = new ByteBudget(this.#limits.maxBytes);
    const sweep = () => {
      this.#dropUnsent();
      this.#dropUnread();
    };
    const { arrivalMaxMs, unreadMaxMs } = this.#limits;
    this.#sweep = setInterval(() => afterArrivals(sweep), Math.min(arrivalMaxMs, unreadMaxMs) / 4).unref();
  }

  get max(): number {
    return this.#limits.maxBytes;
  }

  /** Bytes that are held now. */
  get used(): number {
    return this.#all.used;
  }

  /** Whether refused requests are not even read to their end. */
  get isFlooded(): boolean {
    return this.#all.used > 2 * this.#limits.maxBytes;
  }

  /** Begins a call. It holds what is reported to it until it is released. */
  open(connection: object, outlet: Outlet): CallReservation {
    let budget = this.#byConnection.get(connection);
    if (!budget) {
      budget = new ByteBudget(this.#limits.maxBytes / 2, { whole: this.#all });
      this.#byConnection.set(connection, budget);
    }
    return new CallReservation(budget, outlet, this.#arriving, this.#answered);
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  /** Anyone can begin thousands of calls and send no more of them, even without an access token. */
  #dropUnsent(): void {
    if (this.#all.used <= this.#limits.maxBytes / 2) return;
    const tooOldMs = monotonicMs() - this.#limits.arrivalMaxMs;
    for (const { begunAtMs, outlet } of this.#arriving) {
      if (begunAtMs <= tooOldMs) outlet.destroy();
    }
  }

  /** A reader that stopped reading would otherwise keep its answers here for as long as it stays connected. */
  #dropUnread(): void {
    const tooOldMs = monotonicMs() - this.#limits.unreadMaxMs;
    for (const { answeredAtMs, outlet } of this.#answered) {
      if (answeredAtMs <= tooOldMs && outlet.writableLength > 0) outlet.destroy();
    }
  }
}

/** What one call holds. */
export class CallReservation implements Member {
  place = nowhere;
  readonly outlet: Outlet;
  /** By the monotonic clock. */
  readonly begunAtMs = monotonicMs();
  answeredAtMs = Number.POSITIVE_INFINITY;
  /** Held until there is an answer, which often repeats it: the two need no room beside each other. */
  readonly #request: Reservation;
  /** The call itself and its answer. */
  readonly #rest: Reservation;
  readonly #arriving: TransientSet<CallReservation>;
  readonly #answered: TransientSet<CallReservation>;
  #isRefused: boolean;
  #hasArrived = false;
  #expectedBytes = 0;

  constructor(
    budget: ByteBudget,
    outlet: Outlet,
    arriving: TransientSet<CallReservation>,
    answered: TransientSet<CallReservation>,
  ) {
    this.outlet = outlet;
    this.#request = new Reservation(budget);
    this.#rest = new Reservation(budget);
    this.#arriving = arriving;
    this.#answered = answered;
    this.#isRefused = !this.#request.grow(0);
  }

  /** Whether there was no room for its request. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** It takes this much for as long as it lasts, beside its request and its answer. */
  begun(bytes: number): void {
    this.#arrive(this.#rest, bytes);
  }

  /** A piece of its request. */
  received(bytes: number): void {
    this.#arrive(this.#request, bytes);
  }

  /** Nothing more of its request is waited for. */
  arrived(): void {
    if (this.#hasArrived) return;
    this.#hasArrived = true;
    this.#arriving.delete(this);
  }

  /** Whether there is room for so much of an answer; if so, it is reserved. To be called before the content is read. */
  reserve(bytes: number): boolean {
    if (!this.#rest.grow(bytes)) return false;
    this.#expectedBytes += bytes;
    return true;
  }

  /** An answer that is ready is sent even if there is no room for it. */
  answered(bytes: number): void {
    this.arrived();
    this.#request.release();
    const expectedBytes = Math.min(bytes, this.#expectedBytes);
    this.#expectedBytes -= expectedBytes;
    this.#rest.overdraw(bytes - expectedBytes);
    this.answeredAtMs = monotonicMs();
    this.#answered.add(this);
  }

  /** To be called when its outlet closes. */
  release(): void {
    this.#request.release();
    this.#rest.release();
    this.arrived();
    this.#answered.delete(this);
  }

  #arrive(reservation: Reservation, bytes: number): void {
    if (!this.#hasArrived) this.#arriving.add(this);
    if (reservation.grow(bytes)) return;
    this.#isRefused = true;
    reservation.overdraw(bytes);
  }
}
