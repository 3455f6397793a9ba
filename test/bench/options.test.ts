import { describe, expect, it } from "vitest";
import { readOptions, UsageError } from "./options.ts";
import { workloads } from "./workloads.ts";

describe("readOptions", () => {
  it("compares all workloads unless told otherwise", () => {
    expect(readOptions([])).toMatchObject({ mode: "compare", workloads, timing: { rounds: 5, concurrency: 64 } });
  });

  it("takes the workloads that are named", () => {
    expect(readOptions(["--only", "get,mixed"]).workloads.map(({ name }) => name)).toEqual(["get", "mixed"]);
  });

  it.each([["--only", "nothing"], ["--rounds", "0"], ["--seconds", "soon"], ["--growth", "--soak"], ["--unknown"]])(
    "refuses %s %s",
    (...args) => {
      expect(() => readOptions(args)).toThrow(UsageError);
    },
  );
});
