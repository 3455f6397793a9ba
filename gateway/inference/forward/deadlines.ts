import { monotonicMs } from "../../../services/platform/process/clock.ts";

/** What must not go on for ever. */
export interface Deadlined {
  /** Whether its time is up. Asked now and then, so that a chunk that gives it more need not look at the clock. */
  isLate(nowMs: number): boolean;
  onDeadline(): void;
  /** The process stops. */
  onStop(): void;
}

const sweepMs = 100;

/** One timer for all calls that are under way. */
export class Deadlines {
  readonly #watched = new Set<Deadlined>();
  #timer: NodeJS.Timeout | undefined;

  watch(call: Deadlined): void {
    this.#watched.add(call);
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref();
  }

  forget(call: Deadlined): void {
    this.#watched.delete(call);
  }

  /** Ends all that is under way. */
  stop(): void {
    for (const call of this.#watched) call.onStop();
  }

  #sweep(): void {
    // Not with the last call that ends: the next one comes soon.
    if (this.#watched.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const nowMs = monotonicMs();
    for (const call of this.#watched) {
      if (call.isLate(nowMs)) call.onDeadline();
    }
  }
}
