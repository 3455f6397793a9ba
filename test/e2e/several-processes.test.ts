import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startLocalSystem } from "../support/local-system.ts";

const timeoutMs = 120_000;

it.runIf(process.platform === "linux")(
  "distributes requests among several gateways and preset services",
  {
    timeout: timeoutMs,
  },
  async () => {
    const home = mkdtempSync(join(tmpdir(), "setpoint-several-"));
    onTestFinished(() => rmSync(home, { recursive: true }), timeoutMs);
    const system = await startLocalSystem(home, { GATEWAY_PROCESSES: "2", PRESET_PROCESSES: "2" });
    onTestFinished(async () => {
      await system.stop();
    }, timeoutMs);
    const { base_url, api_key } = system.credentials;
    // One after the other, because simultaneous lists are one call.
    const statuses: (number | undefined)[] = [];
    for (let n = 0; n < 40; n++) statuses.push(await statusOf(`${base_url}/api/v1/presets`, api_key));
    expect(new Set(statuses)).toEqual(new Set([200]));
    for (const name of ["gateway", "gateway-2", "preset", "preset-2"]) {
      const log = () => readFileSync(join(home, "logs", `${name}.log`), "utf8");
      await expect.poll(log).toMatch(/\/api\/v1\/presets|ListPresets/);
    }
  },
);

/** On a new connection each, because connections are what is distributed. */
function statusOf(url: string, key: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    get(url, { agent: false, headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    }).on("error", reject);
  });
}
