import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);

it("measures both sides without an error and finds every acknowledged creation stored", {
  timeout: 120_000,
}, async () => {
  const args = ["--only", "create-hot-50,sparse-keys", "--rounds", "1", "--seconds", "0.5", "--json"];
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), ...args]);
  const { comparisons, faults } = JSON.parse(stdout);
  expect(faults).toEqual([]);
  expect(comparisons).toHaveLength(2);
  for (const { ours, yardstick } of comparisons) {
    expect(ours.rate).toBeGreaterThan(0);
    expect(yardstick.rate).toBeGreaterThan(0);
  }
});
