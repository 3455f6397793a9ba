import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseSigningKeys } from "../../services/organization/domain/signing-keys.ts";
import { keyFromBytes } from "../../services/platform/auth/key-format.ts";
import { newSigningKeyPem, type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

afterEach(() => stack.close());

/** How many exchanges the organization service performs while `work` runs. */
async function exchangesDuring(work: () => Promise<unknown>): Promise<number> {
  const count = () => stack.log().split(/AccessService\/(?:Batch)?ExchangeKey/).length;
  const before = count();
  await work();
  return count() - before;
}

async function statusWith(key: string): Promise<number> {
  return (await stack.create("exchanged", undefined, { key })).status;
}

describe("the key exchange", () => {
  beforeEach(async () => {
    stack = await startStack();
  });

  it("runs once for simultaneous requests with one key, and not again for the next", async () => {
    const { secret } = await stack.tenants.createKey(stack);
    const exchanges = await exchangesDuring(async () => {
      const statuses = await Promise.all(Array.from({ length: 30 }, () => statusWith(secret)));
      expect(statuses).toEqual(Array(30).fill(200));
      expect(await statusWith(secret)).toBe(200);
    });
    expect(exchanges).toBe(1);
  });

  it("is batched for simultaneous keys, each with its own outcome", async () => {
    const good = await Promise.all(Array.from({ length: 40 }, () => stack.tenants.createKey(stack)));
    const unknown = Array.from({ length: 10 }, (_, n) => keyFromBytes(Buffer.alloc(32, 100 + n)));
    const keys = good.flatMap(({ secret }, index) => (index % 4 === 0 ? [secret, unknown[index / 4] ?? ""] : [secret]));
    const exchanges = await exchangesDuring(async () => {
      const statuses = await Promise.all(keys.map(statusWith));
      expect(statuses).toEqual(keys.map((key) => (unknown.includes(key) ? 401 : 200)));
    });
    expect(exchanges).toBeLessThan(keys.length / 2);
  });

  it("runs once for an unknown key, which is then remembered", async () => {
    const unknown = keyFromBytes(Buffer.alloc(32, 9));
    const exchanges = await exchangesDuring(async () => {
      const statuses = await Promise.all(Array.from({ length: 10 }, () => statusWith(unknown)));
      expect([...statuses, await statusWith(unknown)]).toEqual(Array(11).fill(401));
    });
    expect(exchanges).toBe(1);
  });

  it("is skipped for malformed keys", async () => {
    const exchanges = await exchangesDuring(async () => {
      for (const key of ["x", `${stack.apiKey}x`]) expect(await statusWith(key)).toBe(401);
    });
    expect(exchanges).toBe(0);
  });

  it("survives replacing the signing key without notice", async () => {
    const { secret } = await stack.tenants.createKey(stack, { kind: "management" });
    const list = async () => (await stack.request("GET", "/organization/members", { key: secret })).status;
    expect([await statusWith(secret), await list()]).toEqual([200, 200]);
    await stack.organization.stop();
    const signingKeys = parseSigningKeys(newSigningKeyPem(), "test");
    await stack.organization.start({ signingKeys });
    // The gateway still holds a token of the old key, which the service rejects: it gets a new one.
    expect(await list()).toBe(200);
    // The preset service fetches public keys at most once a second.
    await expect.poll(() => statusWith(secret), { interval: 100 }).toBe(200);
  });
});

describe("an expiring access token", () => {
  const ttlSeconds = 2;

  beforeEach(async () => {
    stack = await startStack({ organization: { accessTokenTtlSeconds: ttlSeconds } });
  });

  it("is renewed without a failing request", async () => {
    const { secret } = await stack.tenants.createKey(stack);
    const end = Date.now() + 2 * ttlSeconds * 1_000;
    const statuses = new Set<number>();
    const exchanges = await exchangesDuring(async () => {
      while (Date.now() < end) {
        statuses.add(await statusWith(secret));
        await sleep(20);
      }
    });
    expect([...statuses]).toEqual([200]);
    expect(exchanges).toBeGreaterThan(1);
  });

  it("makes a revoked key stop working when it expires", async () => {
    const key = await stack.tenants.createKey(stack);
    expect(await statusWith(key.secret)).toBe(200);
    await stack.tenants.revokeKey(key);
    await expect.poll(() => statusWith(key.secret), { interval: 100 }).toBe(401);
  });
});
