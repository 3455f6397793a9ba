import { monotonicMs } from "./clock.ts";

/** Says whether a process can do its work right now; throws or rejects where it cannot. */
export type ReadinessCheck = () => Promise<void>;

/** Answers to probes may be this old, so that many probes make one check. */
const checkMaxAgeMs = 1_000;
/** A check that takes longer has failed: a database that vanished without a word does not say so. */
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

  /** Why the process is not ready, or undefined where it is. */
  async fault(): Promise<string | undefined> {
    if (this.isDraining()) return "draining";
    if (!this.#last || monotonicMs() - this.#last.atMs > checkMaxAgeMs) {
      this.#last = { atMs: monotonicMs(), fault: this.#check() };
    }
    return this.#last.fault;
  }

  async #check(): Promise<string | undefined> {
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(
      timeout.reject,
      checkTimeoutMs,
      new Error("a check of readiness has not answered in 2 seconds"),
    );
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
