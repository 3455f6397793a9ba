import type { Metric, Registry } from "prom-client";
import { ByLabels, type LabelNames } from "./by-labels.ts";

interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: LabelNames;
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

/**
 * A histogram like prom-client's, shown by its registry. prom-client's own checks all labels and builds a text of them
 * for every value, which costs more than the rest of the metrics of a call.
 */
export class Histogram {
  readonly #options: HistogramOptions;
  readonly #series: ByLabels<Series>;

  constructor(options: HistogramOptions) {
    this.#options = options;
    this.#series = new ByLabels(options.labelNames, () => new Series(options.buckets));
    // The part of a metric that a registry uses.
    const shown = { name: options.name, get: async () => this.#show() };
    options.registry.registerMetric(shown as unknown as Metric);
  }

  /** The values with these labels. */
  at(first = "", second = ""): Series {
    return this.#series.at(first, second);
  }

  #show() {
    const { name, help, buckets } = this.#options;
    const values: object[] = [];
    for (const [sharedLabels, { counts, count, sum }] of this.#series.entries()) {
      const show = (suffix: string, value: number, labels = {}) =>
        values.push({ metricName: `${name}_${suffix}`, labels, sharedLabels, value });
      let countBelow = 0;
      for (const [index, le] of buckets.entries()) {
        countBelow += counts[index] as number;
        show("bucket", countBelow, { le });
      }
      show("bucket", count, { le: "+Inf" });
      show("sum", sum);
      show("count", count);
    }
    return { name, help, type: "histogram", values };
  }
}

/** The values that came with one set of labels. */
export class Series {
  readonly #bounds: readonly number[];
  /** The number of values in each bucket, not cumulative. */
  readonly counts: number[];
  count = 0;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.count += 1;
    this.sum += value;
    const index = this.#bounds.findIndex((bound) => value <= bound);
    if (index >= 0) (this.counts[index] as number) += 1;
  }
}
