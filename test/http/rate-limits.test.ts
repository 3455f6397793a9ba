import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { metricOf } from "../support/metrics.ts";
import { openRouterWith } from "../support/openrouter.ts";
import type { Answer } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

// So slow that no test sees a token refilled.
const slow = { perSecond: 1, burst: 3 };
const limitHeaders = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

beforeAll(async () => {
  stack = await startStack();
  await stack.create("limited");
});

afterAll(() => stack.close());

function get(key: string, path = "/presets/limited"): Promise<Answer<unknown>> {
  return stack.request("GET", path, { key });
}

async function limitedKey(rateLimit = slow, kind: "api" | "management" = "api"): Promise<string> {
  return (await stack.tenants.createKey(stack, { rateLimit, kind })).secret;
}

async function getUntilRefused(key: string): Promise<Answer<unknown>[]> {
  const answers = [await get(key)];
  while (answers.at(-1)?.status === 200) answers.push(await get(key));
  return answers;
}

describe("a key with a rate limit", () => {
  it("gets 429 above it, with the remaining quota and when to retry", async () => {
    const refusals = await metricOf(stack.metricsUrl, "setpoint_refusals_total", 'reason="key_rate"');
    const answers = await getUntilRefused(await limitedKey());
    expect(answers.length).toBeGreaterThanOrEqual(4);
    expect(limitHeaders.map((name) => answers[0]?.headers.get(name))).toEqual(["3", "2", "1"]);
    const last = answers.at(-1);
    expect(last).toMatchObject({ status: 429, json: { error: { code: 429 } } });
    expect(last?.headers.get("retry-after")).toBe("1");
    expect(limitHeaders.map((name) => last?.headers.get(name))).toEqual(["3", "0", "3"]);
    expect(await metricOf(stack.metricsUrl, "setpoint_refusals_total", 'reason="key_rate"')).toBe(refusals + 1);
  });

  it("stores nothing when rejected", async () => {
    const key = await limitedKey();
    // On a slow machine a token may have been refilled meanwhile.
    for (let n = 0, status = 200; status === 200; n += 1) {
      ({ status } = await stack.create(`limited-${n}`, { messages: [] }, { key }));
      expect([200, 429]).toContain(status);
      expect((await get(stack.apiKey, `/presets/limited-${n}`)).status).toBe(status === 200 ? 200 : 404);
    }
  });

  it("is admitted again after Retry-After", async () => {
    const key = await limitedKey();
    const refused = (await getUntilRefused(key)).at(-1);
    await new Promise((resolve) => setTimeout(resolve, 1_000 * Number(refused?.headers.get("retry-after"))));
    expect((await get(key)).status).toBe(200);
  });

  it("gets no more by using several workspaces or by failing requests", async () => {
    const key = await limitedKey({ perSecond: 1, burst: 2 }, "management");
    const workspaceId = await stack.tenants.createWorkspace(stack);
    const paths = ["/presets", `/presets?workspace_id=${workspaceId}`, "/presets?workspace_id=bad", "/presets/none"];
    const statuses = await Promise.all([...paths, ...paths].map(async (path) => (await get(key, path)).status));
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(3);
  });

  it("does not slow down another key", async () => {
    await getUntilRefused(await limitedKey());
    const answer = await get(stack.apiKey);
    expect(answer.status).toBe(200);
    expect(limitHeaders.map((name) => answer.headers.get(name))).toEqual([null, null, null]);
  });

  it("is reported as 429 by the public client", async () => {
    const apiKey = await limitedKey();
    await getUntilRefused(apiKey);
    const client = openRouterWith(apiKey, stack);
    const create = () =>
      client.presets.createPresetsChatCompletions({ slug: "limited", chatRequest: { messages: [] } });
    const told = { statusCode: 429, message: expect.stringContaining("over its rate limit") };
    await expect.poll(() => create().catch((error) => error), { interval: 1 }).toMatchObject(told);
  });
});

describe("the configured rate limit", () => {
  it("applies only to keys without their own limit", async () => {
    const limited = await startStack({ gateway: { keyRateLimit: slow } });
    try {
      const getAs = (key: string) => limited.request("GET", "/presets", { key });
      const answers = await Promise.all(Array.from({ length: 20 }, () => getAs(limited.apiKey)));
      expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(10);
      const own = await limited.tenants.createKey(limited, { rateLimit: { perSecond: 1_000, burst: 1_000 } });
      const others = await Promise.all(Array.from({ length: 20 }, () => getAs(own.secret)));
      expect(others.map(({ status }) => status)).toEqual(new Array(20).fill(200));
    } finally {
      await limited.close();
    }
  });
});
