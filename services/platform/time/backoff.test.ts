import { describe, expect, it } from "vitest";
import { backoffMs } from "./backoff.ts";

describe("backoffMs", () => {
  it("grows up to a limit, and is randomized", () => {
    for (const [attempt, middle] of [
      [0, 5],
      [3, 40],
      [20, 250],
    ] as const) {
      const pauses = Array.from({ length: 100 }, () => backoffMs({ firstMs: 5, maxMs: 250 }, attempt));
      for (const pause of pauses) {
        expect(pause).toBeGreaterThanOrEqual(middle * 0.5);
        expect(pause).toBeLessThanOrEqual(middle * 1.5);
      }
      expect(new Set(pauses).size).toBeGreaterThan(1);
    }
  });
});
