import { describe, expect, it } from "vitest";
import { readOptions, UsageError } from "./options.ts";
import { workloads } from "./workloads.ts";

describe("readOptions", () => {
  it("compares all workloads by default", () => {
    expect(readOptions([])).toMatchObject({ mode: "compare", workloads, timing: { rounds: 5, concurrency: 64 } });
  });

  it("accepts the named workloads", () => {
    expect(readOptions(["--only", "get,mixed"])?.workloads.map(({ name }) => name)).toEqual(["get", "mixed"]);
  });

  it.each([
    [[], ["setpoint", "portkey", "nginx"]],
    [
      ["--only", "nginx"],
      ["setpoint", "nginx"],
    ],
  ])("includes the named gateways and ours: %j", (args, gateways) => {
    expect(readOptions(["--inference", ...args])).toMatchObject({ mode: "inference", gateways });
  });

  it.each([
    [[], [1, 2, 4, 8, 16]],
    [["--concurrency", "3"], [3]],
  ])("measures latency with few connections: %j", (args, concurrencies) => {
    const options = readOptions(["--latency", ...args]);
    expect(options).toMatchObject({ mode: "latency", concurrencies });
    expect(options?.workloads.map(({ name }) => name)).toEqual(["create-new", "get", "list-presets", "members-200"]);
  });

  it.each([
    [["--json"], "-"],
    [["--json", "--quick"], "-"],
    [["--json", "-"], "-"],
    [["--json", "out.json", "--quick"], "out.json"],
    [["--quick"], undefined],
  ])("writes JSON to the target of %j: %s", (args, json) => {
    expect(readOptions(args)?.json).toBe(json);
  });

  it.each(["--help", "-h"])("measures nothing if asked for help: %s", (flag) => {
    expect(readOptions([flag])).toBeUndefined();
  });

  it.each([
    ["--only", "nothing"],
    ["--rounds", "0"],
    ["--seconds", "soon"],
    ["--growth", "--soak"],
    ["--unknown"],
    ["--inference", "--only=get"],
  ])("rejects %s %s", (...args) => {
    expect(() => readOptions(args)).toThrow(UsageError);
  });
});
