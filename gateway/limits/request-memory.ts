import { type ByteBudget, Reservation } from "../../services/platform/memory/byte-budget.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";

declare module "fastify" {
  interface FastifyRequest {
    /**
     * The memory that the request holds; undefined if it has no key and its answer is small. Released at the end of the
     * exchange, whatever happens to the request in between.
     */
    memory: RequestMemory | undefined;
  }
}

/** The minimum size of a request with everything that belongs to it. Smaller amounts are not counted separately. */
export const requestBytes = 4 * 1024;

/** The memory of a request, until its answer is sent or its client is gone. */
export class RequestMemory {
  /** The share of the key or, without a key, the whole budget. */
  readonly budget: ByteBudget;
  readonly reservation: Reservation;
  /** How much of a large body has arrived. */
  receivedBytes = 0;
  readonly admittedAtMs = monotonicMs();
  /** Ends an answer that takes too long to be read. */
  readTimer: NodeJS.Timeout | undefined;
  readonly #onRelease: (() => void) | undefined;

  constructor(budget: ByteBudget, onRelease?: () => void) {
    this.budget = budget;
    this.reservation = new Reservation(budget);
    this.#onRelease = onRelease;
  }

  /** For when the body is no longer needed, and the answer is sent as it comes. */
  shrink(): void {
    this.reservation.shrinkTo(requestBytes);
  }

  release(): void {
    this.reservation.release();
    if (this.readTimer) clearTimeout(this.readTimer);
    this.#onRelease?.();
  }
}
