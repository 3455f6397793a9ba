import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PoolConnection } from "../../services/platform/mysql/pool.ts";
import { freshName } from "../support/fresh-name.ts";
import { GatewayTelemetry } from "../support/gateway-telemetry.ts";
import { waitsForLock } from "../support/lock-waits.ts";
import { RawConnection } from "../support/raw-connection.ts";
import { request } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

const drainTimeoutMs = 20_000;
let stack: Stack;
let connection: PoolConnection;

beforeAll(async () => {
  stack = await startStack({ preset: { drainTimeoutMs }, gateway: { drainTimeoutMs } });
  connection = await stack.presetPool.getConnection();
});

afterAll(async () => {
  // With its locks, if a test has failed halfway.
  connection.destroy();
  await stack.close();
});

/** Starts a creation that waits for a lock; `release` lets it continue. */
async function beginCreation() {
  const slug = freshName("drained");
  await stack.create(slug);
  await connection.query("START TRANSACTION");
  await connection.execute("SELECT slug FROM presets WHERE slug = ? FOR UPDATE", [slug]);
  const creation = stack.create(slug);
  // Not more often: the table repeats what it last showed to someone who has just looked.
  await expect.poll(() => waitsForLock(stack.presetPool), { interval: 200 }).toBe(true);
  return { creation, release: () => connection.query("ROLLBACK") };
}

describe("a process that is told to stop", () => {
  it("completes the creation in progress: preset", async () => {
    const { creation, release } = await beginCreation();
    const stopped = stack.preset.stop();
    await release();
    expect((await creation).json.data.designated_version.version).toBe(2);
    const answeredAt = Date.now();
    await stopped;
    expect(Date.now() - answeredAt).toBeLessThan(drainTimeoutMs / 2);
    await stack.preset.start();
  });

  it("completes the request in progress and accepts no new connection: gateway", async () => {
    const { creation, release } = await beginCreation();
    const stopped = stack.gateway.stop();
    await expect.poll(() => request("GET", `${stack.baseUrl}/healthz`).catch(() => "refused")).toBe("refused");
    await release();
    expect((await creation).json.data.designated_version.version).toBe(2);
    const answeredAt = Date.now();
    await stopped;
    expect(Date.now() - answeredAt).toBeLessThan(drainTimeoutMs / 2);
    await stack.gateway.start();
    expect((await stack.create("drained-since")).status).toBe(200);
  });

  it("keeps serving during its delay, with Connection: close: gateway", async () => {
    const caller = await RawConnection.open(stack.baseUrl);
    const ask = "GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n";
    caller.send(ask);
    await expect.poll(() => caller.statuses).toEqual([200]);
    const stopped = stack.gateway.stop(5_000);
    caller.send(ask);
    await caller.closed();
    expect(caller.statuses).toEqual([200, 200]);
    expect((await request("GET", `${stack.baseUrl}/readyz`)).status).toBe(503);
    expect((await stack.create("drained-late")).status).toBe(200);
    await stopped;
    await stack.gateway.start();
  });

  it("reports not ready: preset", async () => {
    const url = `http://127.0.0.1:${stack.preset.config.httpPort}/readyz`;
    await expect.poll(async () => (await request("GET", url)).status).toBe(200);
    const { creation, release } = await beginCreation();
    const stopped = stack.preset.stop();
    const { status, text } = await request("GET", url);
    expect([status, text]).toEqual([503, '{"status":"not ready","reason":"draining"}']);
    await release();
    await creation;
    await stopped;
    await stack.preset.start();
  });

  const head = (length: string) =>
    `POST /api/v1/presets/broken/messages HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${stack.apiKey}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;

  it("does not wait for callers that have disconnected: gateway", async () => {
    const open = async (text: string, leave: (connection: RawConnection) => void) => {
      const connection = await RawConnection.open(stack.baseUrl);
      connection.send(text);
      leave(connection);
      return connection;
    };
    const logStart = stack.log().length;
    const connections = [
      await open(`${head("Content-Length: 100")}{`, (connection) => connection.halfClose()),
      await open(`${head("Transfer-Encoding: chunked")}zz\r\n`, () => {}),
      await open(head("Content-Length: 100").replace("Bearer ", "Bearer x"), () => {}),
      await open("GARBAGE\r\n\r\n", () => {}),
      await open("", () => {}),
    ];
    for (const connection of connections.slice(0, 4)) await expect.poll(() => connection.statuses).not.toEqual([]);
    const stoppedAt = Date.now();
    await stack.gateway.stop();
    expect(Date.now() - stoppedAt).toBeLessThan(drainTimeoutMs / 2);
    for (const connection of connections) connection.hangUp();
    await stack.gateway.start();
    expect(stack.log().slice(logStart)).not.toContain("request failed");
  });

  it.each([
    ["body", () => `${head("Content-Length: 100")}{`, [{ status: 499 }]],
    ["headers", () => "GET / HTTP/1.1\r\n", []],
  ])("does not wait for a caller that stalls in its %s: gateway", async (_name, sent, logged) => {
    const connection = await RawConnection.open(stack.baseUrl);
    connection.send(sent());
    await expect.poll(new GatewayTelemetry(stack).connections).toBeGreaterThan(0);
    const stoppedAt = Date.now();
    const logStart = stack.log().length;
    await stack.gateway.stop();
    expect(Date.now() - stoppedAt).toBeLessThan(drainTimeoutMs / 2);
    await connection.closed();
    const lines = stack
      .log()
      .slice(logStart)
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    // Only now, because a gateway warns at startup if the console was never built.
    await stack.gateway.start();

    expect(lines.filter(({ level }) => level >= 40)).toEqual([]);
    expect(lines.filter(({ msg }) => msg === "request")).toMatchObject(logged);
  });
});
