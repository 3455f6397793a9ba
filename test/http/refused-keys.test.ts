import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { keyFromBytes } from "../../services/platform/auth/key-format.ts";
import { metricOf } from "../support/metrics.ts";
import { type Answer, requestRaw } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

// So slow that hardly any token is refilled during a test.
const refusedKeyRateLimit = { perSecond: 1, burst: 20 };

beforeAll(async () => {
  stack = await startStack({ gateway: { refusedKeyRateLimit }, organization: { accessTokenTtlSeconds: 1 } });
  await stack.create("guarded");
});

afterAll(() => stack.close());

beforeEach(async () => {
  await restart({});
});

async function restart(change: { readonly trustedProxies?: string[] }): Promise<void> {
  await stack.gateway.stop();
  await stack.gateway.start({ trustedProxies: [], ...change });
}

function get(authorization?: string, forwardedFor?: string): Promise<Answer> {
  const headers = {
    ...(authorization === undefined ? {} : { authorization }),
    ...(forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor }),
  };
  return requestRaw("GET", stack.baseUrl, "/api/v1/presets/guarded", { headers });
}

const forged = () => `Bearer ${keyFromBytes(randomBytes(32))}`;

async function statusesOf(count: number, send: (n: number) => Promise<Answer>): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  let sent = 0;
  const sendSome = async () => {
    while (sent < count) {
      sent += 1;
      const { status } = await send(sent);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 8 }, sendSome));
  return statuses;
}

async function exchanges(): Promise<number> {
  const { httpPort } = stack.organization.config;
  return metricOf(`http://127.0.0.1:${httpPort}/metrics`, "setpoint_request_seconds_count", "ExchangeKey");
}

/** Returns the first answer above the limit. */
async function useUp(): Promise<Answer> {
  for (;;) {
    const answer = await get(forged());
    if (answer.status !== 401) return answer;
  }
}

describe("rejected credentials", () => {
  it.each<[string, () => string | undefined]>([
    ["forged", forged],
    ["malformed", () => "Bearer nonsense"],
    ["missing", () => undefined],
    ["the same key again", () => `Bearer ${keyFromBytes(Buffer.alloc(32, 5))}`],
  ])("get 429 if there are too many from one address: %s", async (_name, authorization) => {
    const statuses = await statusesOf(1_000, () => get(authorization()));
    // Requests in flight when the last token was used still get 401.
    expect(statuses.get(401)).toBeGreaterThanOrEqual(20);
    expect(statuses.get(401)).toBeLessThan(80);
    expect([...statuses.keys()].sort()).toEqual([401, 429]);
  });

  it("get Retry-After, and are counted", async () => {
    const { headers, json } = await useUp();
    expect(json.error.code).toBe(429);
    expect(headers.get("retry-after")).toBe("1");
    expect(headers.get("x-ratelimit-limit")).toBe("20");
    expect(headers.get("x-ratelimit-remaining")).toBe("0");
    expect(Number(headers.get("x-ratelimit-reset"))).toBeGreaterThanOrEqual(19);
    expect(await metricOf(stack.metricsUrl, "setpoint_refusals_total", 'reason="refused_keys"')).toBeGreaterThan(0);
  });

  it("are not looked up above the limit", async () => {
    await useUp();
    const before = await exchanges();
    await statusesOf(300, () => get(forged()));
    // One token is refilled each second.
    expect((await exchanges()) - before).toBeLessThan(30);
  });

  it("do not slow down a known good key, even after its access token has expired", async () => {
    expect((await get(`Bearer ${stack.apiKey}`)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await useUp();
    const statuses = await statusesOf(100, () => get(`Bearer ${stack.apiKey}`));
    expect([...statuses]).toEqual([[200, 100]]);
  });

  it("include a formerly good key once it is revoked", async () => {
    const key = await stack.tenants.createKey(stack);
    expect((await get(`Bearer ${key.secret}`)).status).toBe(200);
    await stack.tenants.revokeKey(key);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const statuses = await statusesOf(200, () => get(`Bearer ${key.secret}`));
    expect([...statuses.keys()].sort()).toEqual([401, 429]);
  });

  it("delay an unknown key until the address has quota again", async () => {
    await useUp();
    const { secret } = await stack.tenants.createKey(stack);
    const answers = [await get(`Bearer ${secret}`)];
    while (answers.at(-1)?.status === 429 && answers.length < 100) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      answers.push(await get(`Bearer ${secret}`));
    }
    expect(answers.at(-1)?.status).toBe(200);
  });

  it("do not include a good key that lacks a permission", async () => {
    const readOnly = await stack.tenants.createKey(stack, { permissions: ["presets:read"] });
    await statusesOf(100, () => stack.create("guarded", { messages: [] }, { key: readOnly.secret }));
    await statusesOf(100, () => stack.request("GET", "/organization/members", { key: stack.apiKey }));
    expect((await get(forged())).status).toBe(401);
  });
});

describe("X-Forwarded-For", () => {
  const anyone = (n: number) => `203.0.113.${n % 250}`;

  it("does not give an untrusted client a separate quota", async () => {
    const statuses = await statusesOf(200, (n) => get(undefined, anyone(n)));
    expect(statuses.get(401)).toBeLessThan(80);
  });

  it("separates clients behind a trusted proxy", async () => {
    await restart({ trustedProxies: ["127.0.0.0/8"] });
    const statuses = await statusesOf(200, (n) => get(undefined, anyone(n)));
    expect([...statuses]).toEqual([[401, 200]]);
  });

  it("forged behind a trusted proxy does not give a separate quota", async () => {
    await restart({ trustedProxies: ["127.0.0.0/8"] });
    const statuses = await statusesOf(200, (n) => get(undefined, `${anyone(n)}, 198.51.100.7`));
    expect(statuses.get(401)).toBeLessThan(80);
    expect((await get(undefined, "198.51.100.8")).status).toBe(401);
  });
});
