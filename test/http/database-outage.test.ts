import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import type { TestDatabase } from "../support/database.ts";
import { type DatabaseProxy, openDatabaseProxy } from "../support/database-proxy.ts";
import { createPresetDatabase } from "../support/preset-database.ts";
import { request } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

const requestTimeoutMs = 1_500;
let database: TestDatabase;
let proxy: DatabaseProxy;
let stack: Stack;

beforeAll(async () => {
  database = await createPresetDatabase();
  proxy = await openDatabaseProxy(database.url);
  stack = await startStack({ gateway: { requestTimeoutMs }, preset: { databaseUrl: proxy.url } });
  await vi.waitFor(async () => expect((await stack.create("kept")).status).toBe(200), 30_000);
});

afterEach(() => proxy.heal());

afterAll(async () => {
  await stack.close();
  await proxy.close();
  await database.drop();
});

/** Every kind of call that reaches the preset database. */
function callAll() {
  const key = stack.apiKey;
  return Promise.all([
    stack.create("kept"),
    stack.request("PATCH", "/presets/kept", { key, body: { name: `Name ${monotonicMs()}` } }),
    stack.request("GET", "/presets/kept", { key }),
    stack.request("GET", "/presets/kept/versions/1", { key }),
    stack.request("GET", "/presets", { key }),
    stack.request("GET", "/presets/kept/versions", { key }),
    stack.request("GET", "/presets/kept/changes", { key }),
  ]);
}

async function statuses(): Promise<number[]> {
  return (await callAll()).map(({ status }) => status);
}

async function restartGateway(requestTimeoutMs: number): Promise<void> {
  await stack.gateway.stop();
  await stack.gateway.start({ requestTimeoutMs });
}

function probe(path: string) {
  return request("GET", `http://127.0.0.1:${stack.preset.config.httpPort}${path}`);
}

describe("a transient database error", () => {
  // Most of these calls are retried until their timeout.
  beforeAll(() => restartGateway(requestTimeoutMs / 2));
  afterAll(() => restartGateway(requestTimeoutMs));

  it.each([1047, 1114, 1180, 1226, 1290, 1317, 1461, 1615])(
    "returns 503 with Retry-After until it passes: %i",
    async (errno) => {
      proxy.fail("execute", errno);
      for (const { status, headers } of await callAll()) {
        expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
      }
      await proxy.heal();
      await expect.poll(async () => new Set(await statuses())).toEqual(new Set([200]));
    },
  );

  it.each([1040, 1045, 1129, 1203, 1226])("returns 503 while connections are refused: %i", async (errno) => {
    await proxy.refuse();
    await proxy.heal();
    proxy.fail("handshake", errno);
    expect(new Set(await statuses())).toEqual(new Set([503]));
    await proxy.heal();
    await expect.poll(async () => new Set(await statuses())).toEqual(new Set([200]));
  });

  it("is logged as a full disk if there is no room left", async () => {
    proxy.fail("execute", 1114);
    expect((await stack.create("full")).status).toBe(503);
    expect(stack.log()).toContain("The database has no room left");
  });
});

describe("a database that stops responding", () => {
  it("makes calls fail with 503 in time, and they succeed once it is back", async () => {
    for (const phase of ["connect", "query", "prepare", "execute", "commit"] as const) proxy.fail(phase, "silence");
    const startedAtMs = monotonicMs();
    expect(new Set(await statuses())).toEqual(new Set([503]));
    // Including the key exchange, which may be needed first.
    expect(monotonicMs() - startedAtMs).toBeLessThan(4 * requestTimeoutMs);
    await proxy.heal();
    await expect.poll(async () => new Set(await statuses())).toEqual(new Set([200]));
  });
});

describe("a service started while its database is down", () => {
  it.each(["refused", "silent"])("is alive but not ready until the database is back: %s", async (how) => {
    await stack.preset.stop();
    if (how === "refused") await proxy.refuse();
    else proxy.fail("connect", "silence");
    await stack.preset.start();
    expect((await probe("/healthz")).status).toBe(200);
    expect((await probe("/readyz")).status).toBe(503);
    await proxy.heal();
    await expect.poll(async () => (await probe("/readyz")).status, { interval: 200 }).toBe(200);
    // The gateway may be about to reconnect.
    await expect.poll(async () => new Set(await statuses())).toEqual(new Set([200]));
  });
});
