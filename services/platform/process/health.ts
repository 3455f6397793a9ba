import { monotonicMs } from "../time/clock.ts";
import { afterArrivals } from "../time/next-turn.ts";

/** Says whether a process can do its work right now; throws or rejects if it cannot. */
export type ReadinessCheck = () => Promise<void>;

/** How old the answer to a probe may be, so that many probes cause one check. */
const checkMaxAgeMs = 1_000;
/** A check that takes longer has failed: a database that vanished silently never answers. */
const checkTimeoutMs = 2_000;

/** Whether a process may be sent work: all its checks pass and it is not draining. */
export class Health {
  readonly #checks: readonly ReadinessCheck[];
  readonly isDraining: () => boolean;
  #last: { readonly atMs: number; readonly fault: Promise<string | undefined> } | undefined;

  constructor(checks: readonly ReadinessCheck[], isDraining: () => boolean) {
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
    const giveUp = () => timeout.reject(new Error("a check of readiness has not answered in 2 seconds"));
    const timer = setTimeout(() => afterArrivals(giveUp), checkTimeoutMs);
    try {
      await Promise.race([Promise.all(this.#checks.map((check) => check())), timeout.promise]);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      clearTimeout(timer);
    }
  }
}
