import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { openGateway } from "../../gateway/app.ts";
import { dialectNames } from "../../gateway/dialects/dialect-name.ts";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { freshName } from "../support/fresh-name.ts";
import { HostileUpstream } from "../support/hostile-upstream.ts";
import { type InferenceStack, startInferenceStack } from "../support/inference.ts";
import { request } from "../support/rest.ts";
import { openDatabaseProxy, openTcpProxy, type TcpProxy, urlThrough } from "../support/tcp-proxy.ts";

const tokenLifeMs = 3_000;
const requestTimeoutMs = 10_000;
const host = "127.0.0.1";

/** A gateway between clients and an upstream, with everything it needs, each of which can be taken away. */
interface System {
  readonly stack: InferenceStack;
  readonly upstream: HostileUpstream;
  /** Another gateway in front of the same services. */
  readonly otherUrl: string;
  /** Between the gateways and the services, and between these and their databases. */
  readonly presetService: TcpProxy;
  readonly organizationService: TcpProxy;
  readonly databases: readonly TcpProxy[];
  /** Makes a request with a preset. Returns which one was used, or the error status. */
  use(model: string, how?: Use): Promise<string>;
  /** Everything is back and in use again. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

interface Use {
  readonly key?: string;
  readonly baseUrl?: string;
  readonly headers?: Record<string, string>;
}

async function openSystem(): Promise<System> {
  const upstream = await HostileUpstream.start();
  const stack = await startInferenceStack(
    { upstreams: [{ name: "main", base_url: upstream.url, dialects: dialectNames, models: ["*"] }] },
    { organization: { accessTokenTtlSeconds: tokenLifeMs / 1000 }, gateway: { requestTimeoutMs } },
  );
  const { organization, preset, gateway } = stack;
  const databases = await Promise.all([
    openDatabaseProxy(organization.config.databaseUrl),
    openDatabaseProxy(preset.config.databaseUrl),
  ]);
  for (const [index, part] of [organization, preset].entries()) {
    await part.stop();
    await part.start({ databaseUrl: urlThrough(databases[index] as TcpProxy, part.config.databaseUrl) });
  }
  const presetService = await openTcpProxy({ host, port: preset.config.grpcPort });
  const organizationService = await openTcpProxy({ host, port: organization.config.grpcPort });
  await gateway.stop();
  await gateway.start({
    presetTarget: `${host}:${presetService.port}`,
    organizationTarget: `${host}:${organizationService.port}`,
  });
  const lifecycle = new Lifecycle(silentLogger());
  const other = await openGateway({ ...gateway.config, port: 0, metricsPort: 0 }, silentLogger(), lifecycle);
  const proxies = [presetService, organizationService, ...databases];
  return {
    stack,
    upstream,
    otherUrl: `http://${host}:${other.port}`,
    presetService,
    organizationService,
    databases,
    use: async (model, { key = stack.apiKey, baseUrl = stack.baseUrl, headers } = {}) => {
      const answer = await fetch(`${baseUrl}/api/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", ...(headers ?? { authorization: `Bearer ${key}` }) },
        body: JSON.stringify({ model: `@preset/${model}`, messages: [{ role: "user", content: "hello" }] }),
      });
      await answer.text();
      return answer.status === 200 ? (answer.headers.get("x-setpoint-preset") ?? "none") : String(answer.status);
    },
    recover: async () => {
      for (const each of proxies) each.restore();
      const key = (await stack.tenants.createKey(stack)).secret;
      await takesMs(async () => (await stack.create("ready", undefined, { key })).status === 200);
    },
    close: async () => {
      await lifecycle.close();
      await stack.close();
      for (const each of proxies) each.close();
      await upstream.stop();
    },
  };
}

/**
 * A system for each of some tests that run at the same time, because most of what they take is waiting. All are there before
 * the first test begins: to start one takes a while of the thread that they share. What a test has broken must work again.
 */
function openSystemFor(tests: number): (test: Pick<TestContext, "onTestFinished">) => System {
  const systems: System[] = [];
  let used = 0;
  beforeAll(async () => {
    while (systems.length < tests) systems.push(await openSystem());
  });
  afterAll(async () => {
    for (const system of systems) await system.close();
  });
  return ({ onTestFinished }) => {
    const system = systems[used++] as System;
    onTestFinished(system.recover);
    return system;
  };
}

function promptOf(text: string) {
  return { model: "vendor/model", messages: [{ role: "system", content: text }] };
}

/** The longest duration of any of them. */
async function longestMs(times: number, work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  for (let n = 0; n < times; n += 1) {
    const startedAtMs = monotonicMs();
    await work();
    longest = Math.max(longest, monotonicMs() - startedAtMs);
  }
  return longest;
}

/** How long it takes until that is true, if polled continuously. */
async function takesMs(isSo: () => Promise<boolean>): Promise<number> {
  const startedAtMs = monotonicMs();
  while (!(await isSo())) {
    if (monotonicMs() > startedAtMs + 30_000) throw new Error("It did not come true");
    await sleep(20);
  }
  return monotonicMs() - startedAtMs;
}

const services = ({ presetService, organizationService }: System) => [presetService, organizationService];

const outages: [string, (system: System) => readonly TcpProxy[], "cut" | "hang"][] = [
  ["the databases are gone", ({ databases }) => databases, "cut"],
  ["the databases hang", ({ databases }) => databases, "hang"],
  ["the services are gone", services, "cut"],
  ["the services hang", services, "hang"],
  ["the preset service alone hangs", ({ presetService }) => [presetService], "hang"],
];

describe("known keys and presets keep working without waiting for a timeout", () => {
  const systemOf = openSystemFor(outages.length);

  it.concurrent.for(outages)("while %s", { timeout: 120_000 }, async ([name, proxies, fault], context) => {
    const system = systemOf(context);
    const { stack, use } = system;
    const slug = freshName("known");
    const known = await stack.tenants.createKey(stack, { permissions: ["inference"] });
    const unknown = await stack.tenants.createKey(stack);
    await stack.create(slug, promptOf("one"));
    await stack.create(slug, promptOf("two"));
    const { secret: key } = known;
    await takesMs(async () => (await use(slug, { key })) === `${slug}@2`);
    await takesMs(async () => (await use(`${slug}@1`, { key })) === `${slug}@1`);

    for (const each of proxies(system)) each[fault]();
    // The key is in constant use, so its token expires during use.
    const untilMs = monotonicMs() + 1.5 * tokenLifeMs;
    const used = new Set<string>();
    const longest = await longestMs(60, async () => {
      used.add(await use(slug, { key }));
      used.add(await use(`${slug}@1`, { key }));
      await sleep(Math.max(0, untilMs - monotonicMs()) / 60);
    });
    expect([...used].filter((each) => !each.includes("@"))).toEqual([]);
    expect(used).toContain(`${slug}@2; stale`);
    expect(used).toContain(`${slug}@1; stale`);
    // Just over a second at most, and nearly always no time at all.
    expect(longest).toBeLessThan(0.6 * requestTimeoutMs);
    expect(await stack.metric("setpoint_preset_lookups_total", 'outcome="stale"')).toBeGreaterThan(0);
    if (!name.startsWith("the preset service")) {
      expect(await stack.metric("setpoint_stale_grants_total")).toBeGreaterThan(0);
      expect(await use(slug, { key: unknown.secret })).toBe("503");
    }
  });
});

describe("during and after an outage", () => {
  const systemOf = openSystemFor(5);

  it.concurrent("uses changes made meanwhile, and rejects a key revoked meanwhile", {
    timeout: 120_000,
  }, async (context) => {
    const { stack, presetService, organizationService, use } = systemOf(context);
    const slug = freshName("later");
    const { secret: key } = await stack.tenants.createKey(stack);
    const revoked = await stack.tenants.createKey(stack);
    await stack.create(slug, promptOf("one"));
    await use(slug, { key });
    await use(slug, { key: revoked.secret });
    presetService.hang();
    organizationService.hang();
    await stack.tenants.revokeKey(revoked);
    await stack.presetPool.query("UPDATE presets SET status = 'disabled' WHERE slug = ?", [slug]);
    await sleep(tokenLifeMs);
    expect(await use(slug, { key })).toBe(`${slug}@1; stale`);
    expect(await use(slug, { key: revoked.secret })).toBe(`${slug}@1; stale`);
    presetService.restore();
    organizationService.restore();
    await takesMs(async () => (await use(slug, { key })) === "409");
    await takesMs(async () => (await use(slug, { key: revoked.secret })) === "401");
    // What is known to be rejected stays rejected.
    organizationService.cut();
    await sleep(tokenLifeMs);
    expect(["401", "503"]).toContain(await use(slug, { key: revoked.secret }));
  });

  it.concurrent("serves an idle preset quickly even before the gateway knows that the services hang", {
    timeout: 120_000,
  }, async (context) => {
    const { stack, presetService, organizationService, use } = systemOf(context);
    const slug = freshName("idle");
    await stack.create(slug, promptOf("one"));
    await use(slug);
    await sleep(11_000);
    presetService.hang();
    organizationService.hang();
    expect(await longestMs(1, async () => expect(await use(slug)).toBe(`${slug}@1; stale`))).toBeLessThan(
      0.6 * requestTimeoutMs,
    );
    // If each waited like the first, it would be twice as much.
    const startedAtMs = monotonicMs();
    for (let n = 0; n < 10; n += 1) expect(await use(slug)).toBe(`${slug}@1; stale`);
    expect(monotonicMs() - startedAtMs).toBeLessThan(5_000);
  });

  it.concurrent("never serves another workspace's preset", { timeout: 120_000 }, async (context) => {
    const { stack, upstream, presetService, use } = systemOf(context);
    const slug = freshName("shared-name");
    const tenants = [stack, await stack.tenants.createOrganization()];
    for (const [index, { apiKey }] of tenants.entries()) {
      await stack.create(slug, promptOf(`secret of ${index}`), { key: apiKey });
    }
    const stranger = await stack.tenants.createOrganization();
    const check = async () => {
      for (const [index, { apiKey: key }] of tenants.entries()) {
        expect(await use(slug, { key })).toMatch(/^shared-name-\d+@1/);
        expect(upstream.last.body()).toContain(`secret of ${index}`);
        expect(upstream.last.body()).not.toContain(`secret of ${1 - index}`);
      }
    };
    await check();
    expect(await use(slug, { key: stranger.apiKey })).toBe("404");
    presetService.cut();
    await sleep(1_100);
    await check();
    expect(await use(slug, { key: stranger.apiKey })).not.toMatch(/@/);
  });

  it.concurrent("does not blame the key where a preset is not cached and the grant is stale", {
    timeout: 120_000,
  }, async (context) => {
    const { stack, organizationService, otherUrl: baseUrl, use } = systemOf(context);
    const [cached, other] = [freshName("cached"), freshName("other")];
    await stack.create(cached, promptOf("one"));
    await stack.create(cached, promptOf("two"));
    await stack.create(other, promptOf("one"));
    expect(await use(cached, { baseUrl })).toBe(`${cached}@2`);
    organizationService.cut();
    // The preset service accepts the token for a little longer than the gateway would use it.
    await takesMs(async () => (await use(freshName("absent"), { baseUrl })) !== "404");
    expect(await use(cached, { baseUrl })).toBe(`${cached}@2; stale`);
    expect(await use(other, { baseUrl })).toBe("503");
    expect(await use(`${cached}@1`, { baseUrl })).toBe("503");
    organizationService.restore();
    await takesMs(async () => (await use(other, { baseUrl })) === `${other}@1`);
  });

  it.concurrent("enforces a key's rate limit with a stale grant", { timeout: 120_000 }, async (context) => {
    const { stack, organizationService, use } = systemOf(context);
    const slug = freshName("limited");
    await stack.create(slug, promptOf("one"));
    const rateLimit = { perSecond: 1, burst: 3 };
    const { secret: key } = await stack.tenants.createKey(stack, { rateLimit });
    expect(await use(slug, { key })).toBe(`${slug}@1`);
    organizationService.cut();
    await sleep(tokenLifeMs);
    const used = await Promise.all(Array.from({ length: 20 }, () => use(slug, { key })));
    expect(used.filter((each) => each === "429").length).toBeGreaterThanOrEqual(10);
    expect(used.filter((each) => each.startsWith(`${slug}@1`)).length).toBeGreaterThanOrEqual(2);
  });
});

describe("in normal operation", () => {
  let system: System;

  beforeAll(async () => {
    system = await openSystem();
  });

  afterAll(() => system.close());

  const patch = (slug: string, body: unknown) => {
    const { baseUrl, apiKey: key } = system.stack;
    return request("PATCH", `${baseUrl}/api/v1/presets/${slug}`, { key, body });
  };

  it("applies a change at once on the same gateway, and on another within about a second", async () => {
    const { stack, otherUrl, use } = system;
    const slug = freshName("changing");
    await stack.create(slug, promptOf("one"));
    const other = () => use(slug, { baseUrl: otherUrl });
    expect([await use(slug), await other()]).toEqual([`${slug}@1`, `${slug}@1`]);
    const steps: [() => Promise<{ status: number }>, string][] = [
      [() => stack.create(slug, promptOf("two")), `${slug}@2`],
      [() => patch(slug, { status: "disabled" }), "409"],
      [() => patch(slug, { status: "active" }), `${slug}@2`],
      [() => patch(slug, { designated_version: 1 }), `${slug}@1`],
      [() => patch(slug, { status: "archived" }), "409"],
      [() => patch(slug, { status: "active" }), `${slug}@1`],
    ];
    for (const [change, expected] of steps) {
      expect((await change()).status).toBe(200);
      expect(await use(slug)).toBe(expected);
      expect(await takesMs(async () => (await other()) === expected)).toBeLessThan(6_000);
      expect(await other()).toBe(expected);
    }
  });

  it("uses a new preset or version as soon as it is created", async () => {
    const { stack, use } = system;
    const slug = freshName("made");
    expect(await use(slug)).toBe("404");
    await stack.create(slug, promptOf("one"));
    expect(await use(slug)).toBe(`${slug}@1`);
    expect(await use(`${slug}@2`)).toBe("404");
    await stack.create(slug, promptOf("two"));
    await stack.create(slug, promptOf("three"));
    expect(await use(`${slug}@2`)).toBe(`${slug}@2`);
  });

  it("rejects a revoked key within the lifetime of its token", async () => {
    const { stack, use } = system;
    const slug = freshName("revoking");
    await stack.create(slug, promptOf("one"));
    const key = await stack.tenants.createKey(stack);
    expect(await use(slug, { key: key.secret })).toBe(`${slug}@1`);
    await stack.tenants.revokeKey(key);
    const ms = await takesMs(async () => (await use(slug, { key: key.secret })) === "401");
    expect(ms).toBeLessThan(tokenLifeMs + 10_000);
    expect(await use(slug)).toBe(`${slug}@1`);
  });
});
