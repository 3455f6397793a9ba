import { isOfKind } from "../../services/platform/domain/domain-error.ts";
import { monotonicMs } from "../../services/platform/process/clock.ts";

/** A failure tells how things are for this long; after that one has to ask. */
const failureTtlMs = 5_000;

/**
 * Whether a service answers at all; an error that it sends is an answer. It counts as out of reach where a call failed
 * since it was last heard of, and where calls wait and none of them has been answered for a while: a call is made again
 * until its deadline, and whoever can do without the answer should not wait for that.
 */
export class ServiceReach {
  readonly #silenceMaxMs: number;
  #callCount = 0;
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  /** When the service was last heard of, or when after that somebody began to wait. */
  #silentSinceMs = 0;

  constructor(silenceMaxMs: number) {
    this.#silenceMaxMs = silenceMaxMs;
  }

  /** Has a call to the service taken into account. */
  async watch<Answer>(call: Promise<Answer>): Promise<Answer> {
    if (this.#callCount === 0) this.#silentSinceMs = monotonicMs();
    this.#callCount += 1;
    try {
      const answer = await call;
      this.#hear();
      return answer;
    } catch (error) {
      if (isFailureToReach(error)) this.#failedAtMs = monotonicMs();
      else this.#hear();
      throw error;
    } finally {
      this.#callCount -= 1;
    }
  }

  get isOutOfReach(): boolean {
    const nowMs = monotonicMs();
    if (nowMs < this.#failedAtMs + failureTtlMs) return true;
    return this.#callCount > 0 && nowMs >= this.#silentSinceMs + this.#silenceMaxMs;
  }

  /** Waits for the answer to something that was asked then, as long as the service counts as in reach. */
  async answeredOrOutOfReach(answered: Promise<unknown>, askedAtMs: number): Promise<void> {
    let isAnswered = false;
    const settled = answered.then(
      () => {
        isAnswered = true;
      },
      () => {
        isAnswered = true;
      },
    );
    while (!isAnswered && !this.isOutOfReach) {
      const silentAtMs = this.#silentAtMs(askedAtMs);
      if (silentAtMs <= monotonicMs()) return;
      await settledBy(settled, silentAtMs);
    }
  }

  /** A question that is not put to the service yet, because something else is waited for, is a question, too. */
  #silentAtMs(askedAtMs: number): number {
    const sinceMs = this.#callCount > 0 ? this.#silentSinceMs : Math.max(askedAtMs, this.#heardAtMs);
    return sinceMs + this.#silenceMaxMs;
  }

  #hear(): void {
    this.#heardAtMs = monotonicMs();
    this.#silentSinceMs = this.#heardAtMs;
    this.#failedAtMs = Number.NEGATIVE_INFINITY;
  }
}

/** Waits for what is never rejected, or until then. */
export function settledBy(settled: Promise<void>, timeMs: number): Promise<void> {
  const waitMs = timeMs - monotonicMs();
  if (waitMs <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    void settled.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** As opposed to what a service says. */
function isFailureToReach(error: unknown): boolean {
  return isOfKind(error, "unavailable", "deadline_exceeded");
}
