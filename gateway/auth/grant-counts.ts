import { Counter } from "prom-client";
import type { Metrics } from "../../services/platform/observe/metrics.ts";

const lookups = ["hit", "miss", "refused"] as const;
const exchanges = ["granted", "refused", "failed"] as const;

/** Counts what became of the keys of requests. Plain numbers, because a label costs more than a lookup. */
export class GrantCounts {
  readonly lookups: Record<(typeof lookups)[number], number> = { hit: 0, miss: 0, refused: 0 };
  readonly exchanges: Record<(typeof exchanges)[number], number> = { granted: 0, refused: 0, failed: 0 };

  show({ registry }: Metrics): void {
    const counts = this;
    new Counter({
      name: "setpoint_grant_lookups_total",
      help: "Keys that requests came with, by outcome: hit (an access token was at hand), miss (waited for an exchange), refused (by what was known of it).",
      labelNames: ["outcome"],
      registers: [registry],
      collect() {
        this.reset();
        for (const outcome of lookups) this.inc({ outcome }, counts.lookups[outcome]);
      },
    });
    new Counter({
      name: "setpoint_key_exchanges_total",
      help: "Keys that the organization service was asked about, by outcome: granted, refused, failed (no answer).",
      labelNames: ["outcome"],
      registers: [registry],
      collect() {
        this.reset();
        for (const outcome of exchanges) this.inc({ outcome }, counts.exchanges[outcome]);
      },
    });
  }
}
