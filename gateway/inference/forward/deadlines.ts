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
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** Nothing is to be begun any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  watch(call: Deadlined): void {
    this.#watched.add(call);
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref();
  }

  forget(call: Deadlined): void {
    this.#watched.delete(call);
  }

  /** Calls after so long, or at once where the process stops. Returns what takes that back. */
  after(ms: number, call: () => void): () => void {
    const run = (): void => {
      takeBack();
      call();
    };
    const takeBack = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(run);
    };
    const timer = setTimeout(run, ms);
    this.#waiting.add(run);
    return takeBack;
  }

  /** Ends all that is under way. */
  stop(): void {
    this.#isStopped = true;
    for (const call of this.#watched) call.onStop();
    for (const run of this.#waiting) run();
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
