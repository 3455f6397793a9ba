import { describe, expect, it } from "vitest";
import type { Measurement } from "./measure.ts";
import { comparisonTable, cpuUsTotal, ratioOf } from "./report.ts";

function measurement(side: Measurement["side"], rates: readonly number[], cpuUs: Measurement["cpuUs"]): Measurement {
  const latency = { p50Ms: 12, p99Ms: 30, p999Ms: 40, p50sMs: [12], firstByteP50Ms: 11, reads: 1 };
  const rest = { requests: 1, errors: 0, firstErrors: [], firstCpuUs: [], clientCpuUs: 30, residentMib: {} };
  return { side, rates, rate: rates[0] ?? 0, cpuUs, ...latency, ...rest };
}

const ours = measurement("setpoint", [1200, 900, 1100], { gateway: 200.4, database: 100.4 });
const yardstick = measurement("yardstick", [1000, 1000, 1000], { yardstick: 250, database: 150 });

describe("the comparison", () => {
  it("is the median of paired rounds", () => {
    expect(ratioOf({ ours, yardstick })).toBe(1.1);
  });

  it("adds up the processor time of all processes", () => {
    expect(cpuUsTotal(ours)).toBeCloseTo(300.8);
  });

  it("says whether each target is met", () => {
    const workload = { name: "create", title: "create", ratioMin: 1, cpuUsMax: 300 };
    const table = comparisonTable([{ workload, ours, yardstick }]);
    expect(table).toContain("1.10 (≥ 1.00: met)");
    expect(table).toContain("301 (≤ 300: MISSED)");
    expect(table).toContain("gateway 200 + database 100");
  });

  it("compares processor time with the base workload", () => {
    const dear = measurement("setpoint", [500], { gateway: 500, database: 402 });
    const workload = { name: "sparse", title: "sparse", cpuTimesMax: { of: "get", times: 2.5 } };
    const table = comparisonTable([{ workload, ours: dear, yardstick, cpuBase: ours }]);
    expect(table).toContain("get 301 × 3.00 (≤ 2.50: MISSED)");
  });
});
