import { monotonicMs } from "../time/clock.ts";
import { afterArrivals } from "../time/next-turn.ts";

/**
 * Notices that a command has not been answered in time. A command only sets a number: there is a single timer, which
 * fires at most once per timeout, however many commands there are, and then checks the command that is running.
 */
export class CommandClock {
  readonly #isWaiting: () => boolean;
  readonly #onLate: () => void;
  /** The deadline of the running command. */
  #deadlineMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(isWaiting: () => boolean, onLate: () => void) {
    this.#isWaiting = isWaiting;
    this.#onLate = onLate;
  }

  /** A command has begun to run, and may take this long. */
  restart(timeoutMs: number): void {
    this.#deadlineMs = monotonicMs() + timeoutMs;
    this.#timer ??= this.#setTimer(timeoutMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #setTimer(inMs: number): NodeJS.Timeout {
    return setTimeout(() => afterArrivals(() => this.#look()), inMs).unref();
  }

  #look(): void {
    this.#timer = undefined;
    if (!this.#isWaiting()) return;
    const leftMs = this.#deadlineMs - monotonicMs();
    if (leftMs > 0) this.#timer = this.#setTimer(leftMs);
    else this.#onLate();
  }
}
