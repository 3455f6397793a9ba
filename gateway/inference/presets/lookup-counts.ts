import { Counter, Gauge } from "prom-client";
import type { Metrics } from "../../../services/platform/observe/metrics.ts";
import { showOutcomes } from "../../../services/platform/observe/outcome-counts.ts";

export type LookupOutcome = "hit" | "renewed" | "miss" | "stale" | "refused";

/** Counts the outcomes of preset lookups. */
export class LookupCounts {
  readonly #counts: Record<LookupOutcome, number> = { hit: 0, renewed: 0, miss: 0, stale: 0, refused: 0 };
  readonly #failures: Counter;

  constructor(metrics: Metrics, readBytes: () => number) {
    showOutcomes(
      metrics.registry,
      "setpoint_preset_lookups_total",
      "Presets that requests named, by outcome: hit, renewed (waited for the service to confirm it), miss (not in the cache), stale (out of date, because the service did not answer), refused (unknown, disabled, archived).",
      this.#counts,
    );
    new Gauge({
      name: "setpoint_preset_cache_bytes",
      help: "Bytes of the presets in the cache.",
      registers: [metrics.registry],
      collect() {
        this.set(readBytes());
      },
    });
    this.#failures = new Counter({
      name: "setpoint_preset_renewal_failures_total",
      help: "Failed attempts to refresh a cached preset from the preset service.",
      registers: [metrics.registry],
    });
  }

  count(outcome: LookupOutcome): void {
    this.#counts[outcome] += 1;
  }

  renewalFailed(): void {
    this.#failures.inc();
  }
}
