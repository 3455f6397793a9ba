import type { Metrics } from "../../services/platform/observe/metrics.ts";
import { showOutcomes } from "../../services/platform/observe/outcome-counts.ts";

/** Counts the outcomes of key lookups. */
export class GrantCounts {
  readonly lookups = { hit: 0, miss: 0, refused: 0 };
  readonly exchanges = { granted: 0, refused: 0, failed: 0 };

  show({ registry }: Metrics): void {
    showOutcomes(
      registry,
      "setpoint_grant_lookups_total",
      "Keys of requests, by outcome: hit (its access token was cached), miss (waited for an exchange), refused (its refusal was cached).",
      this.lookups,
    );
    showOutcomes(
      registry,
      "setpoint_key_exchanges_total",
      "Keys that the organization service was asked about, by outcome: granted, refused, failed (no answer).",
      this.exchanges,
    );
  }
}
