import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type LocalSystem, startLocalSystem } from "../support/local-system.ts";
import { metricOf } from "../support/metrics.ts";
import { request } from "../support/rest.ts";

const mebibyte = 1024 * 1024;
/** The default. */
const inFlightBytesMax = 64 * mebibyte;
/** Of the pod in the manifests. */
const podBytes = 512 * mebibyte;
/** Node's own limits in it. */
const heapOfPod = "--max-old-space-size=256";

let home: string;
let system: LocalSystem;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "setpoint-slow-readers-"));
  system = await startLocalSystem(home, { NODE_OPTIONS: heapOfPod });
}, 120_000);

afterAll(async () => {
  await system.stop();
  rmSync(home, { recursive: true });
});

/** The peak memory of the gateway. */
function peakBytes(): number {
  const status = readFileSync(`/proc/${system.pidOf("gateway")}/status`, "utf8");
  return Number(status.match(/VmHWM:\s+(\d+) kB/)?.[1]) * 1024;
}

const bytesInFlight = () => metricOf(system.metricsUrl, "setpoint_inflight_bytes");

async function refused(): Promise<number> {
  const reasons = ["process_bytes", "organization_inflight", "key_inflight"];
  const counts = reasons.map((reason) => metricOf(system.metricsUrl, "setpoint_refusals_total", `reason="${reason}"`));
  return (await Promise.all(counts)).reduce((sum, count) => sum + count);
}

it("keeps the gateway within its memory for 200 clients that do not read answers of 2 MiB", async () => {
  const { base_url: baseUrl, api_key: apiKey, management_key: managementKey } = system.credentials;
  const text = "x".repeat(mebibyte - 100);
  for (let n = 0; n < 8; n += 1) {
    const body = { messages: [{ role: "system", content: text }], stop: [text] };
    const url = `${baseUrl}/api/v1/presets/heavy-${n}/chat/completions`;
    expect((await request("POST", url, { key: apiKey, body })).status).toBe(200);
  }
  const sockets = new Set<Socket>();
  const { hostname, port } = new URL(baseUrl);
  for (let n = 0; n < 200; n += 1) {
    const socket = connect(Number(port), hostname).pause();
    socket.on("error", () => {});
    const key = n % 2 === 0 ? apiKey : managementKey;
    const get = `GET /api/v1/presets/heavy-${n % 8} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${key}\r\n\r\n`;
    // Several, because network buffers absorb the first.
    socket.write(get.repeat(6));
    sockets.add(socket);
  }
  let held = 0;
  await vi.waitFor(
    async () => {
      held = await bytesInFlight();
      expect(held).toBeLessThanOrEqual(inFlightBytesMax);
      expect(held).toBeGreaterThan(inFlightBytesMax / 4);
      expect(await refused()).toBeGreaterThan(10);
    },
    { timeout: 60_000, interval: 200 },
  );
  expect((await fetch(`${baseUrl}/healthz`)).status).toBe(200);
  expect(peakBytes()).toBeLessThan(podBytes);

  for (const socket of sockets) socket.resetAndDestroy();
  await expect.poll(bytesInFlight).toBe(0);
  expect((await request("GET", `${baseUrl}/api/v1/presets/heavy-0`, { key: apiKey })).status).toBe(200);
}, 120_000);
