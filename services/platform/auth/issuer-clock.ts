import type { Logger } from "../observe/logger.ts";
import type { Metrics } from "../observe/metrics.ts";
import { monotonicMs } from "../time/clock.ts";

/** The clocks of two machines may differ by this much, and tokens are still accepted. */
const clockToleranceMs = 60_000;

/**
 * A difference worth reporting: more than a slow answer and rounding to seconds cause between two clocks that agree.
 */
const reportedDifferenceMs = 5_000;
const logIntervalMs = 60_000;

interface TokenTimes {
  readonly iat: number;
  readonly exp: number;
  readonly nbf?: number;
}

/** Compares the times of tokens, which are the issuer's, with our clock, and reports if the two clocks differ. */
export class IssuerClock {
  readonly #logger: Logger | undefined;
  readonly #metrics: Metrics | undefined;
  /** How far our clock was ahead when the keys were last fetched. */
  #aheadMs = 0;
  /** The issuer's clock and our monotonic clock at that time. */
  #reported: { readonly issuerMs: number; readonly atMs: number } | undefined;
  readonly #loggedAtMs = { token: Number.NEGATIVE_INFINITY, clock: Number.NEGATIVE_INFINITY };

  constructor(logger: Logger | undefined, metrics: Metrics | undefined) {
    this.#logger = logger;
    this.#metrics = metrics;
  }

  /** Whether a token is currently valid; "good" includes the tolerance. */
  validityOf({ iat, exp, nbf = iat }: TokenTimes): "good" | "early" | "expired" {
    if (exp <= iat || this.leftMs(exp) <= 0) return "expired";
    return Math.max(iat, nbf) * 1000 > Date.now() + clockToleranceMs ? "early" : "good";
  }

  /** Counts a token that is not currently valid by our clock, whether it is accepted or not. */
  reportIfOutOfTime({ iat, exp, nbf = iat }: TokenTimes): void {
    const now = Date.now();
    if (Math.max(iat, nbf) * 1000 - now <= reportedDifferenceMs && now - exp * 1000 < reportedDifferenceMs) return;
    this.#metrics?.tokenOutOfTime();
    this.#warn("token", "an access token is of another time: either clocks differ, or its caller kept it too long");
  }

  /**
   * How long a token is accepted from now on: until it expires by the issuer's clock, so that a revoked key does not
   * work longer than its tokens live. If that clock is not known, with the tolerance of ours.
   */
  leftMs(exp: number): number {
    const leftByOursMs = exp * 1000 + clockToleranceMs - Date.now();
    if (!this.#reported) return leftByOursMs;
    const issuerNowMs = this.#reported.issuerMs + monotonicMs() - this.#reported.atMs;
    return Math.min(leftByOursMs, exp * 1000 + reportedDifferenceMs - issuerNowMs);
  }

  /** Reported by the issuer itself, so no caller can forge it. Undefined: not known. */
  measure(issuerTimeMs: number | undefined): void {
    this.#reported = issuerTimeMs === undefined ? undefined : { issuerMs: issuerTimeMs, atMs: monotonicMs() };
    this.#aheadMs = issuerTimeMs === undefined ? 0 : Date.now() - issuerTimeMs;
    this.#metrics?.clockMeasured(this.#aheadMs / 1000);
    if (Math.abs(this.#aheadMs) > reportedDifferenceMs) this.#warn("clock", this.#difference());
  }

  /** False if the difference is so large that valid tokens are refused. */
  get agrees(): boolean {
    return Math.abs(this.#aheadMs) <= clockToleranceMs;
  }

  check(): void {
    if (!this.agrees) throw new Error(this.#difference());
  }

  #difference(): string {
    const seconds = Math.round(Math.abs(this.#aheadMs) / 1000);
    return `the clock of this machine is ${seconds} s ${this.#aheadMs > 0 ? "ahead of" : "behind"} that of the organization service`;
  }

  #warn(about: "token" | "clock", message: string): void {
    if (monotonicMs() - this.#loggedAtMs[about] < logIntervalMs) return;
    this.#loggedAtMs[about] = monotonicMs();
    this.#logger?.warn({ clock_ahead_seconds: Math.round(this.#aheadMs / 1000) }, message);
  }
}
