import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openGateway } from "../../gateway/app.ts";
import { dialectNames } from "../../gateway/dialects/dialect-name.ts";
import { silentLogger } from "../../services/platform/observe/logger.ts";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { freshName } from "../support/fresh-name.ts";
import { HostileUpstream } from "../support/hostile-upstream.ts";
import { type InferenceStack, startInferenceStack } from "../support/inference.ts";
import { request } from "../support/rest.ts";
import { openDatabaseProxy, openTcpProxy, type TcpProxy, urlThrough } from "../support/tcp-proxy.ts";

const tokenLifeMs = 3_000;
const requestTimeoutMs = 10_000;
const host = "127.0.0.1";

let upstream: HostileUpstream;
let stack: InferenceStack;
/** Another gateway before the same services. */
let otherUrl: string;
const lifecycle = new Lifecycle(silentLogger());
/** Between the gateways and the services, and between those and their databases. */
let presetService: TcpProxy;
let organizationService: TcpProxy;
let databases: TcpProxy[];

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack(
    { upstreams: [{ name: "main", base_url: upstream.url, dialects: dialectNames, models: ["*"] }] },
    { organization: { accessTokenTtlSeconds: tokenLifeMs / 1000 }, gateway: { requestTimeoutMs } },
  );
  const { organization, preset, gateway } = stack;
  databases = await Promise.all([
    openDatabaseProxy(organization.config.databaseUrl),
    openDatabaseProxy(preset.config.databaseUrl),
  ]);
  for (const [index, part] of [organization, preset].entries()) {
    await part.stop();
    await part.start({ databaseUrl: urlThrough(databases[index] as TcpProxy, part.config.databaseUrl) });
  }
  presetService = await openTcpProxy({ host, port: preset.config.grpcPort });
  organizationService = await openTcpProxy({ host, port: organization.config.grpcPort });
  await gateway.stop();
  await gateway.start({
    presetTarget: `${host}:${presetService.port}`,
    organizationTarget: `${host}:${organizationService.port}`,
  });
  const other = await openGateway({ ...gateway.config, port: 0, metricsPort: 0 }, silentLogger(), lifecycle);
  otherUrl = `http://${host}:${other.port}`;
});

afterEach(async () => {
  for (const each of [presetService, organizationService, ...databases]) each.restore();
  const key = (await stack.tenants.createKey(stack)).secret;
  await expect.poll(async () => (await stack.create("ready", undefined, { key })).status).toBe(200);
});

afterAll(async () => {
  await lifecycle.close();
  await stack.close();
  for (const each of [presetService, organizationService, ...databases]) each.close();
  await upstream.stop();
});

interface Use {
  readonly key?: string;
  readonly baseUrl?: string;
  readonly headers?: Record<string, string>;
}

/** Makes a request with a preset. Returns which was used, or the status of the refusal. */
async function use(model: string, { key = stack.apiKey, baseUrl = stack.baseUrl, headers }: Use = {}): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(headers ?? { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model: `@preset/${model}`, messages: [{ role: "user", content: "hello" }] }),
  });
  await answer.text();
  return answer.status === 200 ? (answer.headers.get("x-setpoint-preset") ?? "none") : String(answer.status);
}

function promptOf(text: string) {
  return { model: "vendor/model", messages: [{ role: "system", content: text }] };
}

/** The longest that any of them took. */
async function longestMs(times: number, work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  for (let n = 0; n < times; n += 1) {
    const startedAtMs = monotonicMs();
    await work();
    longest = Math.max(longest, monotonicMs() - startedAtMs);
  }
  return longest;
}

/** How long it takes until that is so, where it is looked at all the time. */
async function takesMs(isSo: () => Promise<boolean>): Promise<number> {
  const startedAtMs = monotonicMs();
  while (!(await isSo())) {
    if (monotonicMs() > startedAtMs + 30_000) throw new Error("It did not come true");
    await sleep(20);
  }
  return monotonicMs() - startedAtMs;
}

const services = () => [presetService, organizationService];

const outages: [string, () => readonly TcpProxy[], "cut" | "hang"][] = [
  ["the databases are gone", () => databases, "cut"],
  ["the databases hang", () => databases, "hang"],
  ["the services are gone", services, "cut"],
  ["the services hang", services, "hang"],
  ["the preset service alone hangs", () => [presetService], "hang"],
];

describe.each(outages)("a key and a preset that are known, while %s", (name, proxies, fault) => {
  it("go on being used, and nobody waits for a timeout", async () => {
    const slug = freshName("known");
    const known = await stack.tenants.createKey(stack, { permissions: ["inference"] });
    const unknown = await stack.tenants.createKey(stack);
    await stack.create(slug, promptOf("one"));
    await stack.create(slug, promptOf("two"));
    const { secret: key } = known;
    expect(await use(slug, { key })).toBe(`${slug}@2`);
    expect(await use(`${slug}@1`, { key })).toBe(`${slug}@1`);

    for (const each of proxies()) each[fault]();
    // The key is in use all the time, so its token ends while somebody uses it.
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
    // Well over a second at the most, and nearly always nothing at all.
    expect(longest).toBeLessThan(0.6 * requestTimeoutMs);
    expect(await stack.metric("setpoint_preset_lookups_total", 'outcome="stale"')).toBeGreaterThan(0);
    if (!name.startsWith("the preset service")) {
      expect(await stack.metric("setpoint_stale_grants_total")).toBeGreaterThan(0);
      expect(await use(slug, { key: unknown.secret })).toBe("503");
    }
  }, 120_000);
});

describe("after an outage", () => {
  it("what was changed meanwhile is used, and a key that was revoked meanwhile is not", async () => {
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
    // What is known to be refused stays so.
    organizationService.cut();
    await sleep(tokenLifeMs);
    expect(["401", "503"]).toContain(await use(slug, { key: revoked.secret }));
  }, 120_000);
});

describe("a preset that nobody has used for a while", () => {
  it("is served soon by a gateway that does not know yet that the services hang", async () => {
    const slug = freshName("idle");
    await stack.create(slug, promptOf("one"));
    await use(slug);
    await sleep(11_000);
    presetService.hang();
    organizationService.hang();
    expect(await longestMs(1, async () => expect(await use(slug)).toBe(`${slug}@1; stale`))).toBeLessThan(
      0.6 * requestTimeoutMs,
    );
    // Where each waited as the first did, it would be twice as much.
    const startedAtMs = monotonicMs();
    for (let n = 0; n < 10; n += 1) expect(await use(slug)).toBe(`${slug}@1; stale`);
    expect(monotonicMs() - startedAtMs).toBeLessThan(5_000);
  }, 120_000);
});

describe("while all is well", () => {
  const patch = (slug: string, body: unknown) =>
    request("PATCH", `${stack.baseUrl}/api/v1/presets/${slug}`, { key: stack.apiKey, body });

  it("a change is seen by the next request through the same gateway, and by another's within about a second", async () => {
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

  it("a preset and a version that were not there are used as soon as they are made", async () => {
    const slug = freshName("made");
    expect(await use(slug)).toBe("404");
    await stack.create(slug, promptOf("one"));
    expect(await use(slug)).toBe(`${slug}@1`);
    expect(await use(`${slug}@2`)).toBe("404");
    await stack.create(slug, promptOf("two"));
    await stack.create(slug, promptOf("three"));
    expect(await use(`${slug}@2`)).toBe(`${slug}@2`);
  });

  it("a key that was revoked stops working within the life of its token", async () => {
    const slug = freshName("revoking");
    await stack.create(slug, promptOf("one"));
    const key = await stack.tenants.createKey(stack);
    expect(await use(slug, { key: key.secret })).toBe(`${slug}@1`);
    await stack.tenants.revokeKey(key);
    const ms = await takesMs(async () => (await use(slug, { key: key.secret })) === "401");
    expect(ms).toBeLessThan(tokenLifeMs + 10_000);
    expect(await use(slug)).toBe(`${slug}@1`);
  });

  it("nobody gets what another workspace has, also in an outage", async () => {
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
  }, 120_000);

  it("only API keys with the permission are taken, in either header", async () => {
    const slug = freshName("permitted");
    await stack.create(slug, promptOf("one"));
    const reader = await stack.tenants.createKey(stack, { permissions: ["presets:read", "presets:write"] });
    const user = await stack.tenants.createKey(stack, { permissions: ["inference"] });
    expect(await use(slug, { key: stack.managementKey })).toBe("403");
    expect(await use(slug, { key: reader.secret })).toBe("403");
    expect(await use(slug, { key: user.secret })).toBe(`${slug}@1`);
    expect(await use(slug, { headers: { "x-api-key": user.secret } })).toBe(`${slug}@1`);
    expect(await use(slug, { headers: {} })).toBe("401");
  });

  it("a limit of a key holds also where its grant is an old one", async () => {
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
  }, 120_000);
});
