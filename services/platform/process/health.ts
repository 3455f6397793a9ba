import { monotonicMs } from "../time/clock.ts";
import { afterArrivals } from "../time/next-turn.ts";

/** Says whether a process can do its work right now; throws or rejects if it cannot. */
export type ReadinessCheck = () => Promise<void>;

/** By who has to answer: for the report that one has not. */
export type ReadinessChecks = Readonly<Record<string, ReadinessCheck>>;

/** How old the answer to a probe may be, so that many probes cause one check. */
const checkMaxAgeMs = 1_000;
/** A check that takes longer has failed: a database that vanished silently never answers. */
const checkTimeoutMs = 2_000;

/** Whether a process may be sent work: all its checks pass and it is not draining. */
export class Health {
  readonly #checks: ReadinessChecks;
  readonly isDraining: () => boolean;
  #last: { readonly atMs: number; readonly fault: Promise<string | undefined> } | undefined;

  constructor(checks: ReadinessChecks, isDraining: () => boolean) {
    this.#checks = checks;
    this.isDraining = isDraining;
  }

  /** Why the process is not ready, or undefined if it is. */
  async fault(): Promise<string | undefined> {
    if (this.isDraining()) return "draining";
    if (!this.#last || monotonicMs() - this.#last.atMs > checkMaxAgeMs) {
      this.#last = { atMs: monotonicMs(), fault: this.#check() };
    }
    return this.#last.fault;
  }

  async #check(): Promise<string | undefined> {
    const timeout = Promise.withResolvers<never>();
    const waitedFor = new Set(Object.keys(this.#checks));
    const giveUp = () => timeout.reject(new Error(`no answer in 2 seconds from ${[...waitedFor].join(" and ")}`));
    const timer = setTimeout(() => afterArrivals(giveUp), checkTimeoutMs);
    try {
      const passed = Object.entries(this.#checks).map(async ([subject, check]) => {
        await check();
        waitedFor.delete(subject);
      });
      await Promise.race([Promise.all(passed), timeout.promise]);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      clearTimeout(timer);
    }
  }
}
