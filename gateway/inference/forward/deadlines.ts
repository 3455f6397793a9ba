import { monotonicMs } from "../../../services/platform/process/clock.ts";

/** What must not go on for ever. */
export interface Deadlined {
  /** Among all that are watched. Written by `Deadlines` alone. */
  place: number;
  /** Whether its time is up. Asked now and then, so that a chunk that gives it more need not look at the clock. */
  isLate(nowMs: number): boolean;
  onDeadline(): void;
  /** The process stops. */
  onStop(): void;
}

const sweepMs = 100;

/** One timer for all calls that are under way. */
export class Deadlines {
  /** No Set: with one, calls that had left it stayed in memory, and their requests with them, until V8 looked at all of the heap. */
  readonly #watched: Deadlined[] = [];
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** Nothing is to be begun any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  watch(call: Deadlined): void {
    call.place = this.#watched.length;
    this.#watched.push(call);
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /** Once for a call that is watched: another time would take out another. */
  forget(call: Deadlined): void {
    const last = this.#watched.pop() as Deadlined;
    if (last === call) return;
    this.#watched[call.place] = last;
    last.place = call.place;
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
    this.#forEach((call) => call.onStop());
    for (const run of this.#waiting) run();
  }

  #sweep(): void {
    // Not with the last call that ends: the next one comes soon.
    if (this.#watched.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const nowMs = monotonicMs();
    this.#forEach((call) => {
      if (call.isLate(nowMs)) call.onDeadline();
    });
  }

  /** Backwards: whoever takes the place of one that is forgotten meanwhile has had its turn. */
  #forEach(tell: (call: Deadlined) => void): void {
    for (let place = this.#watched.length - 1; place >= 0; place -= 1) {
      const call = this.#watched[place];
      if (call) tell(call);
    }
  }
}
