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
    expect(await new Health({}, notDraining).fault()).toBeUndefined();
    expect(await new Health({ a: passing, b: passing }, notDraining).fault()).toBeUndefined();
  });

  it.each([
    ["an error", new Error("no database"), "no database"],
    ["something else", "no database", "no database"],
  ])("reports the fault of a check that throws %s", async (_name, thrown, fault) => {
    const failing = () => Promise.reject(thrown);
    expect(await new Health({ a: passing, b: failing }, notDraining).fault()).toBe(fault);
  });

  it("reports who does not answer", async () => {
    const silent = () => new Promise<void>(() => {});
    const health = new Health({ a: passing, "the database": silent, "another service": silent }, notDraining);
    expect(await health.fault()).toBe("no answer in 2 seconds from the database and another service");
  });

  it("reports draining, whatever the checks say", async () => {
    let draining = false;
    const health = new Health({ passing }, () => draining);
    expect(await health.fault()).toBeUndefined();
    draining = true;
    expect(await health.fault()).toBe("draining");
  });

  it("checks once for many probes, and again after a second", async () => {
    let checks = 0;
    let fault: Error | undefined;
    const health = new Health(
      {
        counted: async () => {
          checks += 1;
          if (fault) throw fault;
        },
      },
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
