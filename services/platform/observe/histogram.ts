import type { Metric, Registry } from "prom-client";

interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly [string] | readonly [string, string];
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

/**
 * A histogram as prom-client has it, and shown by its registry. prom-client's own checks all labels and writes a text of
 * them for every value, which costs more than the rest of the metrics of a call.
 */
export class Histogram {
  readonly #options: HistogramOptions;
  /** By the values of the first and the second label. */
  readonly #series = new Map<string, Map<string, Series>>();

  constructor(options: HistogramOptions) {
    this.#options = options;
    // All that a registry asks of a metric.
    const shown = { name: options.name, get: async () => this.#show() };
    options.registry.registerMetric(shown as unknown as Metric);
  }

  /** Where values with these labels are counted. */
  at(first: string, second = ""): Series {
    return this.#series.get(first)?.get(second) ?? this.#add(first, second);
  }

  #add(first: string, second: string): Series {
    const series = new Series(this.#options.buckets);
    this.#series.set(first, (this.#series.get(first) ?? new Map()).set(second, series));
    return series;
  }

  #show() {
    const { name, help, labelNames, buckets } = this.#options;
    const [firstName, secondName] = labelNames;
    const values: object[] = [];
    for (const [first, ofFirst] of this.#series) {
      for (const [second, { counts, count, sum }] of ofFirst) {
        const sharedLabels = { [firstName]: first, ...(secondName !== undefined && { [secondName]: second }) };
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
    }
    return { name, help, type: "histogram", values };
  }
}

/** The values that came with one set of labels. */
class Series {
  readonly #bounds: readonly number[];
  /** Of the values up to each bound that are above the one before it. */
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
