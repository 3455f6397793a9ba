import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openOrganizationService } from "../../services/organization/app.ts";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import { openPool } from "../../services/platform/mysql/pool.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import type { BoundPorts } from "../../services/platform/rpc/servers.ts";
import { openPresetService } from "../../services/preset/app.ts";
import { openDatabaseProxy as openStatementProxy } from "../support/database-proxy.ts";
import { serverOf } from "../support/lock-waits.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { openDatabaseProxy, type TcpProxy, urlThrough } from "../support/tcp-proxy.ts";

const host = "127.0.0.1";
let stack: Stack;
let closers: (() => unknown)[];

/** One of two services behind the gateway, whose database alone can be taken away. */
interface Twin {
  readonly database: TcpProxy;
  /** How many calls it has answered successfully. */
  answered(rpc: string): number;
  /** How many calls it has received, whatever their outcome. */
  asked(): number;
}

type Open<Config> = (config: Config, logger: pino.Logger, lifecycle: Lifecycle) => Promise<BoundPorts>;

/** Replaces the stack's service with two of its kind. */
async function twinsOf<Config extends { readonly databaseUrl: string }>(
  open: Open<Config>,
  config: Config,
): Promise<{ readonly twins: [Twin, Twin]; readonly target: string }> {
  const start = async () => {
    const database = await openDatabaseProxy(config.databaseUrl);
    const lines: string[] = [];
    const logger = pino({ level: "info" }, { write: (line) => lines.push(line) });
    const lifecycle = new Lifecycle(logger);
    const twin = { ...config, grpcPort: 0, httpPort: 0, databaseUrl: urlThrough(database, config.databaseUrl) };
    const { grpc } = await open(twin, logger, lifecycle);
    closers.unshift(async () => {
      await lifecycle.close();
      database.close();
    });
    const answered = (rpc: string) =>
      lines.filter((line) => line.includes(`${rpc}"`) && line.includes('"code":"OK"')).length;
    const asked = () => lines.filter((line) => line.includes('"rpc":"')).length;
    return { twin: { database, answered, asked }, address: `${host}:${grpc}` };
  };
  const [first, second] = [await start(), await start()];
  return { twins: [first.twin, second.twin], target: `${first.address},${second.address}` };
}

beforeEach(async () => {
  closers = [];
  stack = await startStack();
});

afterEach(async () => {
  await stack.gateway.stop();
  for (const close of closers) await close();
  await stack.close();
});

const callerCount = 6;

/** Calls continuously from several callers while `work` runs. Returns every status but 200, with its duration. */
async function failuresDuring(call: () => Promise<number>, work: () => Promise<void>): Promise<string[]> {
  const failures: string[] = [];
  let isOver = false;
  const callAgain = async () => {
    while (!isOver) {
      const startedAt = performance.now();
      const status = await call();
      if (status !== 200) failures.push(`${status} after ${Math.round(performance.now() - startedAt)} ms`);
      await sleep(10);
    }
  };
  const callers = Array.from({ length: callerCount }, callAgain);
  await work().finally(() => {
    isOver = true;
  });
  await Promise.all(callers);
  return failures;
}

/** Waits until a service gets no more calls. Few are made: a transaction that hangs holds its rows, for which others wait 3 seconds. */
async function expectNoMoreCalls(twin: Twin, call: () => Promise<number>): Promise<void> {
  const askedMeanwhile = async () => {
    const before = twin.asked();
    for (let n = 0; n < 6; n += 1) await call();
    return twin.asked() - before;
  };
  await expect.poll(askedMeanwhile, { timeout: 120_000 }).toBe(0);
}

/** Waits until a service has received some more calls. */
async function expectMoreCalls(twin: Twin, rpc: string): Promise<void> {
  const before = twin.answered(rpc);
  await expect.poll(() => twin.answered(rpc), { interval: 50 }).toBeGreaterThan(before + 2);
}

describe.each(["cut", "hang"] as const)(
  "two preset or organization services when the database of one fails (%s)",
  (failure) => {
    it("lose no creation: the other takes them all, and both take them again afterwards", async () => {
      const { twins, target } = await twinsOf(openPresetService, stack.preset.config);
      await stack.gateway.stop();
      await stack.gateway.start({ presetTarget: target });
      const [first, second] = twins;
      let count = 0;
      const create = async () => (await stack.create(`failover-${count++}`)).status;
      const creation = "/CreateVersion";
      const failures = await failuresDuring(create, async () => {
        await expectMoreCalls(first, creation);
        await expectMoreCalls(second, creation);
        first.database[failure]();
        await expectNoMoreCalls(first, create);
        first.database.restore();
        await expectMoreCalls(first, creation);
        await expectMoreCalls(second, creation);
      });
      // A hanging transaction holds its rows: callers waiting for them through the other service fail after 3 seconds.
      // Those that had to wait for their turn there as well may have no time left to receive it.
      const held = failures.filter((text) => failure === "hang" && /^(409|503) /.test(text));
      expect(held.length).toBeLessThanOrEqual(callerCount);
      expect(failures.filter((text) => !held.includes(text))).toEqual([]);
    }, 240_000);

    it("fail no key exchange", async () => {
      const { twins, target } = await twinsOf(openOrganizationService, stack.organization.config);
      await stack.gateway.stop();
      await stack.gateway.start({ organizationTarget: target });
      const [first, second] = twins;
      const exchange = async () => {
        const { secret } = await stack.tenants.createKey(stack);
        return (await stack.request("GET", "/presets", { key: secret })).status;
      };
      const failures = await failuresDuring(exchange, async () => {
        await expectMoreCalls(first, "/ExchangeKey");
        await expectMoreCalls(second, "/ExchangeKey");
        first.database[failure]();
        await expectNoMoreCalls(first, exchange);
        first.database.restore();
        await expectMoreCalls(first, "/ExchangeKey");
      });
      expect(failures).toEqual([]);
    }, 240_000);
  },
);

describe("a change with an unknown outcome whose row is locked at the other service", () => {
  const asCaller = (method: string, path: string, body?: unknown) =>
    stack.request(method, path, { key: stack.apiKey, body });

  it.each([
    ["creation", (slug: string) => stack.create(slug), 2],
    ["PATCH", (slug: string) => asCaller("PATCH", `/presets/${slug}`, { name: "New" }), 1],
  ] as const)("does not claim that nothing was stored: %s", async (_, change, versions) => {
    const statements = await openStatementProxy(stack.preset.config.databaseUrl);
    closers.push(() => statements.close());
    const { target } = await twinsOf(openPresetService, { ...stack.preset.config, databaseUrl: statements.url });
    await stack.gateway.stop();
    await stack.gateway.start({ presetTarget: target });
    expect((await stack.create("open")).status).toBe(200);

    statements.fail("commit", "hold", 1);
    const changing = change("open");
    await expect.poll(() => statements.held).toBe(1);
    // MariaDB ends the session that stalls, and somebody else takes the row. Elsewhere the row stays locked.
    const others = openPool(stack.preset.config.databaseUrl, 1, { lockTimeoutSeconds: 30, statementTimeoutMs: 30_000 });
    const holder = await others.getConnection();
    await holder.query("START TRANSACTION");
    const holding = holder.execute("SELECT id FROM presets WHERE workspace_id = ? AND slug = 'open' FOR UPDATE", [
      idToBytes(stack.workspaceId),
    ]);
    expect((await changing).status).toBe(503);

    statements.letGo();
    await holding;
    await holder.query("ROLLBACK");
    holder.release();
    await others.end();
    const isCarriedOut = (await serverOf(stack.presetPool)) === "MySQL";
    const expected = isCarriedOut ? { changes: 2, versions } : { changes: 1, versions: 1 };
    const countOf = async (list: string) => (await asCaller("GET", `/presets/open/${list}`)).json.total_count;
    await expect.poll(() => countOf("changes")).toBe(expected.changes);
    expect(await countOf("versions")).toBe(expected.versions);
  });
});

describe("two services that both report not ready", () => {
  it("are called anyway", async () => {
    const { target } = await twinsOf((config, logger, lifecycle) => {
      const ports = openPresetService(config, logger, lifecycle);
      // Not ready but able to work, as if a check were wrong.
      Object.defineProperty(lifecycle, "draining", { value: true });
      return ports;
    }, stack.preset.config);
    await stack.gateway.stop();
    await stack.gateway.start({ presetTarget: target });
    for (let n = 0; n < 10; n += 1) expect((await stack.create(`panic-${n}`)).status).toBe(200);
  });
});
