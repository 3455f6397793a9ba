import { Counter, type Registry } from "prom-client";

/**
 * Shows how often each outcome occurred. They are counted as plain numbers, because a label costs more than the
 * counting.
 */
export function showOutcomes(
  registry: Registry,
  name: string,
  help: string,
  counts: Readonly<Record<string, number>>,
): void {
  new Counter({
    name,
    help,
    labelNames: ["outcome"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(counts)) this.inc({ outcome }, count);
    },
  });
}
