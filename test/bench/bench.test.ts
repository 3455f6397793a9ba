import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";

const run = promisify(execFile);

it("measures both sides without errors and finds every acknowledged creation stored", {
  timeout: 300_000,
}, async () => {
  const args = ["--only", "create-hot-50,sparse-keys", "--rounds", "1", "--seconds", "0.1", "--json"];
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), ...args]);
  const { comparisons, faults } = JSON.parse(stdout);
  expect(faults).toEqual([]);
  expect(comparisons).toHaveLength(2);
  for (const { ours, yardstick } of comparisons) {
    expect(ours.rate).toBeGreaterThan(0);
    expect(yardstick.rate).toBeGreaterThan(0);
  }
});

it("measures the latency of a single caller and the steps of a request", { timeout: 300_000 }, async () => {
  const args = [
    "--latency",
    "--only",
    "create-new,members-200",
    "--concurrency",
    "1",
    "--rounds",
    "1",
    "--seconds",
    "0.1",
  ];
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), ...args, "--json"]);
  const { figures, ways, faults } = JSON.parse(stdout);
  expect(faults).toEqual([]);
  expect(figures).toHaveLength(2);
  const titles = ways.map(({ steps }: { steps: { title: string }[] }) => steps.map(({ title }) => title.trim()));
  for (const way of titles) {
    expect(way[0]).toBe("gateway, until it calls");
    expect(way.at(-1)).toBe("gateway, until it has answered");
  }
  expect(titles[0]).toContain("COMMIT");
  expect(titles[1]).toContain("service, until it answers");
});

it("measures inference through the gateway, and reports which other gateway is unavailable", {
  timeout: 300_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), "setpoint-bench-cache-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const nowhere = "http://127.0.0.1:9";
  const env = {
    ...process.env,
    XDG_CACHE_HOME: folder,
    npm_config_cache: folder,
    npm_config_offline: "true",
    http_proxy: nowhere,
    https_proxy: nowhere,
    no_proxy: "127.0.0.1",
  };
  const args = ["--inference", "--only", "portkey,setpoint", "--rounds", "1", "--seconds", "0.1", "--json"];
  const { stdout, stderr } = await run(process.execPath, [join(import.meta.dirname, "bench.ts"), ...args], { env });
  expect(stderr).toContain("NOT MEASURED: portkey");
  const { figures, held, faults } = JSON.parse(stdout);
  expect(faults).toEqual([]);
  const ours = figures.filter(({ gateway }: { gateway: string }) => gateway === "setpoint, preset");
  expect(ours.map(({ scenario, concurrency }: Record<string, unknown>) => `${scenario}, ${concurrency}`)).toEqual([
    "whole, 1",
    "whole, 8",
    "whole, 64",
    "50 chunks, 1",
    "50 chunks, 8",
    "50 chunks, 64",
    "first byte, 1",
  ]);
  for (const { requests } of ours) expect(requests).toBeGreaterThan(0);
  expect(held.at(-1)).toMatchObject({ gateway: "setpoint, preset", broken: 0 });
  expect(stderr).toMatch(/1,000 open streams: MiB +\d+ +300 +(met|MISSED)/);
});
