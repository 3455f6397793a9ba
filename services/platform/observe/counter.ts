import type { Metric, Registry } from "prom-client";
import { ByLabels, type LabelNames } from "./by-labels.ts";

interface CounterOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: LabelNames;
  readonly registry: Registry;
}

/** A counter like prom-client's, shown by its registry, for what is counted with every call: see `Histogram`. */
export class Counter {
  readonly #counts: ByLabels<Count>;

  constructor({ name, help, labelNames, registry }: CounterOptions) {
    this.#counts = new ByLabels(labelNames, () => new Count());
    const show = async () => {
      const values = Array.from(this.#counts.entries(), ([labels, { value }]) => ({ labels, value }));
      return { name, help, type: "counter", values };
    };
    registry.registerMetric({ name, get: show } as unknown as Metric);
  }

  /** What is counted with these labels. */
  at(first = "", second = ""): Count {
    return this.#counts.at(first, second);
  }
}

class Count {
  value = 0;

  add(count: number): void {
    this.value += count;
  }
}
