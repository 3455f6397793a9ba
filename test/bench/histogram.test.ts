import { describe, expect, it } from "vitest";
import { Histogram } from "./histogram.ts";

describe("Histogram", () => {
  it("returns quantiles within 2%", () => {
    const histogram = new Histogram();
    for (let ms = 1; ms <= 1000; ms += 1) histogram.record(ms);
    for (const share of [0.5, 0.9, 0.99]) {
      const error = histogram.quantileMs(share) / (1000 * share) - 1;
      expect(error).toBeGreaterThanOrEqual(0);
      expect(error).toBeLessThan(0.021);
    }
  });

  it("adds counts from another histogram", () => {
    const [one, other] = [new Histogram(), new Histogram()];
    one.record(1);
    other.record(100);
    one.add(new Histogram(other.counts));
    expect(one.quantileMs(0.5)).toBeCloseTo(1, 1);
    expect(one.quantileMs(1)).toBeGreaterThan(99);
  });

  it.each([0, 0.001, 1e9])("accepts a latency of %d ms, however extreme", (ms) => {
    const histogram = new Histogram();
    histogram.record(ms);
    expect(histogram.counts.reduce((sum, count) => sum + count)).toBe(1);
  });
});
