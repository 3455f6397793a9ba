import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import type { Pool } from "../../services/platform/mysql/pool.ts";
import { failureOf } from "../support/failures.ts";
import { upTo } from "../support/preset-store.ts";
import { type Call, openRpcCalls } from "../support/rpc-calls.ts";
import { type Stack, startStack } from "../support/stack.ts";
import type { Tenant } from "../support/tenants.ts";

let stack: Stack;
let other: Tenant;

const crowdSize = 40;

beforeAll(async () => {
  stack = await startStack({ preset: { databasePoolSize: 3 }, organization: { databasePoolSize: 3 } });
  other = await stack.tenants.createOrganization();
  for (const { apiKey, managementKey } of [stack, other]) {
    await stack.create("a", undefined, { key: apiKey });
    await stack.request("GET", "/workspaces", { key: managementKey });
  }
});

afterAll(() => stack.close());

const requests = {
  "a search": ["preset", (n, { apiKey }) => stack.request("GET", `/presets?q=${n}`, { key: apiKey })],
  "a list of presets": ["preset", (n, { apiKey }) => stack.request("GET", `/presets?offset=${n}`, { key: apiKey })],
  "a list of changes": ["preset", (n, { apiKey }) => stack.request("GET", `/changes?offset=${n}`, { key: apiKey })],
  "a change of a preset": [
    "preset",
    (n, { apiKey }) => stack.request("PATCH", "/presets/a", { key: apiKey, body: { name: `${n}` } }),
  ],
  "a list of keys": [
    "organization",
    (n, { managementKey }) => stack.request("GET", `/keys?offset=${n}`, { key: managementKey }),
  ],
  "a change of an organization": [
    "organization",
    (n, { managementKey }) =>
      stack.request("PATCH", "/workspaces/default", { key: managementKey, body: { description: `${n}` } }),
  ],
} satisfies Record<string, ["preset" | "organization", (n: number, tenant: Tenant) => Promise<{ status: number }>]>;

describe("a tenant with more requests than the database can serve at once", () => {
  it.each(Object.entries(requests))(
    "delays %s of another tenant by a few of its requests, not by all",
    async (_name, asked) => {
      const [service, ask] = asked;
      const answered: string[] = [];
      const note = (who: string, answer: Promise<{ status: number }>) =>
        answer.then(({ status }) => answered.push(`${who} ${status}`));
      let all: Promise<unknown>[] = [];
      await whileLocked(service, async () => {
        all = upTo(crowdSize).map((n) => note("crowd", ask(n, stack)));
        await expect.poll(() => underWay(service)).toBeGreaterThanOrEqual(crowdSize);
        const before = await underWay(service);
        all.push(note("other", ask(1, other)));
        await expect.poll(() => underWay(service)).toBeGreaterThan(before);
      });
      await Promise.all(all);
      expect(answered.indexOf("other 200")).toBeGreaterThan(-1);
      expect(answered.indexOf("other 200")).toBeLessThan(crowdSize / 2);
      expect(answered.filter((each) => each === "crowd 200")).toHaveLength(crowdSize);
    },
  );
});

describe("a caller for whom there is no room to wait for the database", () => {
  /** As many of one tenant as may hold a connection, or wait for one. */
  const room = 502;

  it("is told that the database is overloaded, not that it is out of reach", async () => {
    const access = openRpcCalls(stack.organization.config);
    const { accessToken } = await access.gRPC(AccessService.method.exchangeKey, { key: stack.apiKey });
    const calls = openRpcCalls(stack.preset.config);
    const list = (call: Call, offset: number) => call(PresetService.method.listPresets, { offset }, accessToken);
    let crowd: Promise<unknown> | undefined;
    await whileLocked("preset", async () => {
      crowd = Promise.all(upTo(room).map((n) => list(calls.gRPC, n)));
      await expect.poll(() => underWay("preset")).toBe(room);
      const failures = await Promise.all([calls.gRPC, calls.Connect].map((call) => failureOf(list(call, 0))));
      for (const failure of failures)
        expect(failure).toMatchObject({
          code: "UNAVAILABLE",
          reason: "OVERLOADED",
          message: expect.stringContaining("The database is overloaded"),
        });
    });
    await crowd;
    access.close();
    calls.close();
  });
});

/** Blocks everything that a service is asked. */
async function whileLocked(service: "preset" | "organization", work: () => Promise<void>): Promise<void> {
  const [pool, table]: [Pool, string] =
    service === "preset" ? [stack.presetPool, "presets"] : [stack.organizationPool, "organizations"];
  const lock = await pool.getConnection();
  await lock.query(`LOCK TABLES ${table} WRITE`);
  try {
    await work();
  } finally {
    await lock.query("UNLOCK TABLES");
    lock.release();
  }
}

/** How many callers hold or wait for a connection of a service. */
async function underWay(service: "preset" | "organization"): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${stack[service].config.httpPort}/metrics`)).text();
  const counts = [...metrics.matchAll(/^setpoint_database_pool\{.*state="(?:used|waiting)".*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
