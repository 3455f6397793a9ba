import { isOfKind } from "../../services/platform/domain/domain-error.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { afterArrivals } from "../../services/platform/time/next-turn.ts";

/** How long a failure counts. After that, only another call can tell. */
const failureTtlMs = 5_000;

/**
 * Whether a service answers at all; an error that it sends is an answer. It counts as out of reach if a call has failed
 * since it was last heard of, or if calls are waiting and none has been answered for a while: a call is retried until
 * its deadline, and callers that can do without the answer should not wait for that.
 */
export class ServiceReach {
  readonly #silenceMaxMs: number;
  #callCount = 0;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  /** When the service was last heard of or, if nobody was waiting then, when somebody began to. */
  #silentSinceMs = 0;
  #isSilent = false;
  #silenceTimer: NodeJS.Timeout | undefined;

  constructor(silenceMaxMs: number) {
    this.#silenceMaxMs = silenceMaxMs;
  }

  /** Takes a call to the service into account. */
  async watch<Answer>(call: Promise<Answer>): Promise<Answer> {
    this.#callCount += 1;
    if (this.#callCount === 1) this.#listen();
    try {
      const answer = await call;
      this.#recordAnswer();
      return answer;
    } catch (error) {
      if (isFailureToReach(error)) this.#failedAtMs = monotonicMs();
      else this.#recordAnswer();
      throw error;
    } finally {
      this.#callCount -= 1;
    }
  }

  get isOutOfReach(): boolean {
    if (monotonicMs() < this.#failedAtMs + failureTtlMs) return true;
    return this.#callCount > 0 && this.#isSilent;
  }

  /** Waits until a lookup that was started at `askedAtMs` is answered, or the service counts as out of reach. */
  async answeredOrOutOfReach(answered: Promise<unknown>, askedAtMs: number): Promise<void> {
    let isAnswered = false;
    const settle = () => {
      isAnswered = true;
    };
    const settled = answered.then(settle, settle);
    while (!isAnswered && !this.isOutOfReach) {
      await settledBy(settled, this.#silentAtMs(askedAtMs));
      if (this.#callCount === 0 && monotonicMs() >= this.#silentAtMs(askedAtMs)) return;
    }
  }

  /**
   * If no call is in flight, silence counts from the start of the lookup: it may still wait for something else before
   * it makes a call.
   */
  #silentAtMs(askedAtMs: number): number {
    const sinceMs = this.#callCount > 0 ? this.#silentSinceMs : Math.max(askedAtMs, this.#answeredAtMs);
    return sinceMs + this.#silenceMaxMs;
  }

  #recordAnswer(): void {
    this.#answeredAtMs = monotonicMs();
    this.#failedAtMs = Number.NEGATIVE_INFINITY;
    this.#listen();
  }

  #listen(): void {
    this.#silentSinceMs = monotonicMs();
    this.#isSilent = false;
    this.#silenceTimer ??= this.#timeSilence();
  }

  /** Not by the clock alone: after this process was stalled, the answers are in its sockets, and have to be read. */
  #timeSilence(): NodeJS.Timeout {
    const waitMs = Math.ceil(this.#silentSinceMs + this.#silenceMaxMs - monotonicMs());
    const look = () => {
      this.#isSilent = monotonicMs() >= this.#silentSinceMs + this.#silenceMaxMs;
      this.#silenceTimer = this.#isSilent ? undefined : this.#timeSilence();
    };
    return setTimeout(() => afterArrivals(look), waitMs).unref();
  }
}

/** Waits for a promise, which must never reject, but no longer than until this time and for what has arrived by then. */
export function settledBy(settled: Promise<void>, timeMs: number): Promise<void> {
  const waitMs = timeMs - monotonicMs();
  if (waitMs <= 0) return new Promise(afterArrivals);
  return new Promise((resolve) => {
    const timer = setTimeout(() => afterArrivals(resolve), waitMs);
    void settled.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** As opposed to an error that the service answered with. */
function isFailureToReach(error: unknown): boolean {
  return isOfKind(error, "unavailable", "deadline_exceeded");
}
