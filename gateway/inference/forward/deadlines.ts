import { monotonicMs } from "../../../services/platform/process/clock.ts";

/** What must not go on for ever. */
export interface Deadlined {
  /** Its index among all that are watched. Only `Deadlines` writes it. */
  place: number;
  /** Whether its time is up. Asked now and then, so that nobody has to look at the clock for each chunk that extends it. */
  isLate(nowMs: number): boolean;
  onDeadline(): void;
  /** The process stops. */
  onStop(): void;
}

const sweepMs = 100;

/** One timer for all calls that are under way. */
export class Deadlines {
  /** Not a Set: deleted entries of one stayed in memory, with their requests, until V8 collected all of the heap. */
  readonly #watched: Deadlined[] = [];
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** Nothing may be begun any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  watch(call: Deadlined): void {
    call.place = this.#watched.length;
    this.#watched.push(call);
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /** Exactly once for a call that is watched: a second time would remove another one. */
  forget(call: Deadlined): void {
    const last = this.#watched.pop() as Deadlined;
    if (last === call) return;
    this.#watched[call.place] = last;
    last.place = call.place;
  }

  /** Calls after so long, or at once when the process stops. Returns what cancels that. */
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

  /** Ends all that is under way. */
  stop(): void {
    this.#isStopped = true;
    this.#forEach((call) => call.onStop());
    for (const run of this.#waiting) run();
  }

  #sweep(): void {
    // Only here, and not when the last call ends: the next one usually comes soon.
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

  /** Backwards: the call that takes the place of one that is forgotten meanwhile has had its turn already. */
  #forEach(tell: (call: Deadlined) => void): void {
    for (let place = this.#watched.length - 1; place >= 0; place -= 1) {
      const call = this.#watched[place];
      if (call) tell(call);
    }
  }
}
