import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PoolConnection, RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { request } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

const drainTimeoutMs = 5_000;
let stack: Stack;
let connection: PoolConnection;

beforeAll(async () => {
  stack = await startStack({ preset: { drainTimeoutMs }, gateway: { drainTimeoutMs } });
  connection = await stack.presetPool.getConnection();
});

afterAll(async () => {
  // With its locks, where a test has failed half-way.
  connection.destroy();
  await stack.close();
});

/** Begins a creation that waits for a lock; `release` lets it go on. */
async function beginCreation(slug: string) {
  await stack.create(slug);
  await connection.query("START TRANSACTION");
  await connection.execute("SELECT slug FROM presets WHERE slug = ? FOR UPDATE", [slug]);
  const creation = stack.create(slug);
  // Not more often: the table shows what it showed last to someone who has just looked.
  await expect.poll(waitsForLock, { timeout: 10_000, interval: 200 }).toBe(true);
  return { creation, release: () => connection.query("ROLLBACK") };
}

async function waitsForLock(): Promise<boolean> {
  const [rows] = await stack.presetPool.query<RowDataPacket[]>(
    `SELECT p.id FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
      WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()`,
  );
  return rows.length > 0;
}

describe("a process that is told to stop", () => {
  it("finishes the creation that it is at: preset", async () => {
    const { creation, release } = await beginCreation("drained-preset");
    const stopped = stack.preset.stop();
    await release();
    expect((await creation).json.data.designated_version.version).toBe(2);
    const answeredAt = Date.now();
    await stopped;
    expect(Date.now() - answeredAt).toBeLessThan(drainTimeoutMs / 2);
    await stack.preset.start();
  });

  it("finishes the request that it is at, and takes no new connection: gateway", async () => {
    const { creation, release } = await beginCreation("drained-gateway");
    const stopped = stack.gateway.stop();
    await expect.poll(() => request("GET", `${stack.baseUrl}/healthz`).catch(() => "refused")).toBe("refused");
    await release();
    expect((await creation).json.data.designated_version.version).toBe(2);
    const answeredAt = Date.now();
    await stopped;
    expect(Date.now() - answeredAt).toBeLessThan(drainTimeoutMs / 2);
    await stack.gateway.start();
    expect((await stack.create("drained-gateway")).status).toBe(200);
  });

  it("says so to those who ask whether it is ready: preset", async () => {
    const url = `http://127.0.0.1:${stack.preset.config.httpPort}/readyz`;
    expect((await request("GET", url)).status).toBe(200);
    const { creation, release } = await beginCreation("drained-ready");
    const stopped = stack.preset.stop();
    const answer = await request("GET", url).catch(() => undefined);
    expect(answer?.status ?? 503).toBe(503);
    await release();
    await creation;
    await stopped;
    await stack.preset.start();
  });
});
