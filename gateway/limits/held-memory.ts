import type { FastifyRequest } from "fastify";
import type { ByteBudget, Reservation } from "../../services/platform/process/byte-budget.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What the request holds of the memory; undefined if it has no key and its answer is small. */
    held: HeldMemory | undefined;
  }
}

/** A request with all that belongs to it weighs this much at least. What is smaller is not counted on its own. */
export const requestBytes = 4 * 1024;

/** The memory of a request, until its answer is sent or its client is gone. */
export class HeldMemory {
  /** The share of the key, or where there is no key, the whole. */
  readonly budget: ByteBudget;
  readonly reservation: Reservation;
  /** Ends an answer that takes too long to be read. */
  readTimer: NodeJS.Timeout | undefined;
  readonly #onRelease: (() => void) | undefined;

  constructor(budget: ByteBudget, reservation: Reservation, onRelease?: () => void) {
    this.budget = budget;
    this.reservation = reservation;
    this.#onRelease = onRelease;
  }

  /** For when the body is not needed any more, and the answer is sent as it comes. */
  shrink(): void {
    this.reservation.shrinkTo(requestBytes);
  }

  release(): void {
    this.reservation.release();
    if (this.readTimer) clearTimeout(this.readTimer);
    this.#onRelease?.();
  }
}

/** Has the request hold it. It is released with the end of the exchange, whatever becomes of the request in between. */
export function hold(request: FastifyRequest, held: HeldMemory): HeldMemory {
  request.held = held;
  if (request.exchange) request.exchange.held = held;
  return held;
}
