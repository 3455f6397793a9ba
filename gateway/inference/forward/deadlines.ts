import { type Member, TransientSet } from "../../../services/platform/memory/transient-set.ts";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import { afterArrivals } from "../../../services/platform/time/next-turn.ts";

/** Something with a time limit. */
export interface Deadlined extends Member {
  /**
   * Whether its time is up. Checked periodically, so that not every chunk that extends the limit has to read the clock.
   */
  isLate(nowMs: number): boolean;
  onDeadline(): void;
  /** The process stops. */
  onStop(): void;
}

const sweepMs = 100;

/** One timer for all calls in flight. */
export class Deadlines {
  readonly #watched = new TransientSet<Deadlined>();
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** Nothing may be begun any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  watch(call: Deadlined): void {
    this.#watched.add(call);
    this.#timer ??= setInterval(() => afterArrivals(() => this.#sweep()), sweepMs).unref();
  }

  forget(call: Deadlined): void {
    this.#watched.delete(call);
  }

  /** Calls back after this time, or at once when the process stops. Returns a function that cancels it. */
  after(ms: number, call: () => void): () => void {
    const run = (): void => {
      cancel();
      call();
    };
    const cancel = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(run);
    };
    const timer = setTimeout(run, ms);
    this.#waiting.add(run);
    return cancel;
  }

  /** Ends everything in flight. */
  stop(): void {
    this.#isStopped = true;
    for (const call of this.#watched) call.onStop();
    for (const run of this.#waiting) run();
  }

  #sweep(): void {
    // Only here, and not when the last call ends: the next one usually comes soon.
    if (this.#watched.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const nowMs = monotonicMs();
    for (const call of this.#watched) if (call.isLate(nowMs)) call.onDeadline();
  }
}
