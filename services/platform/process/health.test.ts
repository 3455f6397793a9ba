import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Health } from "./health.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

const passing = async () => {};
const notDraining = () => false;

describe("Health", () => {
  it("has no fault if all checks pass or there are none", async () => {
    expect(await new Health([], notDraining).fault()).toBeUndefined();
    expect(await new Health([passing, passing], notDraining).fault()).toBeUndefined();
  });

  it.each([
    ["an error", new Error("no database"), "no database"],
    ["something else", "no database", "no database"],
  ])("reports the fault of a check that throws %s", async (_name, thrown, fault) => {
    const failing = () => Promise.reject(thrown);
    expect(await new Health([passing, failing], notDraining).fault()).toBe(fault);
  });

  it("reports a check that does not answer", async () => {
    expect(await new Health([passing, () => new Promise(() => {})], notDraining).fault()).toMatch(/not answered/);
  });

  it("reports draining, whatever the checks say", async () => {
    let draining = false;
    const health = new Health([passing], () => draining);
    expect(await health.fault()).toBeUndefined();
    draining = true;
    expect(await health.fault()).toBe("draining");
  });

  it("checks once for many probes, and again after a second", async () => {
    let checks = 0;
    let fault: Error | undefined;
    const health = new Health(
      [
        async () => {
          checks += 1;
          if (fault) throw fault;
        },
      ],
      notDraining,
    );
    await Promise.all([health.fault(), health.fault(), health.fault()]);
    expect(checks).toBe(1);
    fault = new Error("gone");
    vi.advanceTimersByTime(1_001);
    expect(await health.fault()).toBe("gone");
    expect(checks).toBe(2);
  });
});
