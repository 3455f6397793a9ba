import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, it } from "vitest";
import {
  type ExchangeKeyResponse,
  ExchangeKeyResponseSchema,
} from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { DomainError, deadlineExceeded, unavailable } from "../../services/platform/domain/domain-error.ts";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { pass, stopTime } from "../../test/support/fake-time.ts";
import { ServiceReach } from "../clients/service-reach.ts";
import { InferenceGrants } from "./inference-grants.ts";
import { KeyExchange } from "./key-exchange.ts";

const tokenLifeMs = 60_000;
const staleMaxMs = 15 * 60_000;

/** What the organization service does with an exchange. */
let answer: () => Promise<ExchangeKeyResponse>;
let calls: number;
let keyExpiresInSeconds: number | undefined;
let exchange: KeyExchange;
let grants: InferenceGrants;
let metrics: Metrics;

function open(maxMs = staleMaxMs): void {
  const reach = new ServiceReach(1_000);
  metrics = new Metrics("test");
  const exchangeKey = () => {
    calls += 1;
    return reach.watch(answer());
  };
  exchange = new KeyExchange({ exchangeKey }, 1_000);
  grants = new InferenceGrants(exchange, reach, maxMs, metrics);
}

const good = async () =>
  create(ExchangeKeyResponseSchema, {
    accessToken: `token-${calls}`,
    expireTime: timestampFromMs(Date.now() + tokenLifeMs),
    expiresInSeconds: tokenLifeMs / 1000,
    ...(keyExpiresInSeconds !== undefined && { keyExpiresInSeconds }),
    principal: { keyId: "id" },
  });
const down = () => Promise.reject(unavailable("down"));
const silent = () => new Promise<never>(() => {});
const refusal = new DomainError("unauthenticated", { reason: "KEY_INVALID", message: "No." });
const refused = () => Promise.reject(refusal);

stopTime();

beforeEach(() => {
  calls = 0;
  keyExpiresInSeconds = undefined;
  answer = good;
  open();
});

function request(key = "key") {
  return { key, workspaceId: "", requestId: "request", deadlineMs: monotonicMs() + 10_000 };
}

async function tokenFor(key?: string): Promise<string> {
  const { grant, isStale } = await grants.grantFor(request(key));
  return isStale ? `${grant.accessToken}, stale` : grant.accessToken;
}

async function staleCount(): Promise<number> {
  return Number((await metrics.registry.metrics()).match(/^setpoint_stale_grants_total\{.*\} (\d+)$/m)?.[1] ?? 0);
}

describe("the grant of an inference request", () => {
  it("is a fresh one while the organization service answers", async () => {
    expect(await tokenFor()).toBe("token-1");
    await pass(tokenLifeMs * 10);
    expect(await tokenFor()).toBe("token-2");
    expect(await staleCount()).toBe(0);
  });

  it.each([down, () => Promise.reject(deadlineExceeded())])(
    "is the last one for up to 15 minutes after expiry if the service is unreachable",
    async (failing) => {
      await tokenFor();
      answer = failing;
      await pass(tokenLifeMs);
      expect(await tokenFor()).toBe("token-1, stale");
      await pass(staleMaxMs - 100);
      expect(await tokenFor()).toBe("token-1, stale");
      expect(await staleCount()).toBe(2);
      await pass(100);
      await expect(tokenFor()).rejects.toThrow();
      answer = good;
      expect(await tokenFor()).toMatch(/^token-\d$/);
    },
  );

  it("is the last one after a second if the service is silent, and then at once", async () => {
    await tokenFor();
    await tokenFor("other");
    answer = silent;
    await pass(tokenLifeMs);
    let first: string | undefined;
    void tokenFor().then((token) => {
      first = token;
    });
    await pass(999);
    expect(first).toBeUndefined();
    await pass(1);
    expect(first).toBe("token-1, stale");
    expect(await tokenFor()).toBe("token-1, stale");
    expect(await tokenFor("other")).toBe("token-2, stale");
  });

  it("is retried once a second in the background while the service is unreachable", async () => {
    await tokenFor();
    answer = down;
    await pass(tokenLifeMs);
    await tokenFor();
    calls = 0;
    for (let n = 0; n < 100; n += 1) {
      expect(await tokenFor()).toBe("token-1, stale");
      await pass(100);
    }
    expect(calls).toBeGreaterThanOrEqual(9);
    expect(calls).toBeLessThanOrEqual(11);
    answer = good;
    await tokenFor();
    await pass(0);
    expect(await tokenFor()).not.toContain("stale");
  });

  it("is retried for only a few keys at once while the service is unreachable", async () => {
    const keys = Array.from({ length: 500 }, (_, index) => `key-${index}`);
    for (const key of keys) await tokenFor(key);
    answer = silent;
    await pass(tokenLifeMs);
    const first = tokenFor(keys[0]);
    await pass(1_000);
    await first;
    calls = 0;
    for (const key of keys) expect(await tokenFor(key)).toContain("stale");
    expect(calls).toBeLessThanOrEqual(64);
  });

  it("is denied if the service rejects the key, even if it is unreachable afterwards", async () => {
    await tokenFor();
    answer = refused;
    await pass(tokenLifeMs);
    await expect(tokenFor()).rejects.toBe(refusal);
    answer = down;
    await expect(tokenFor()).rejects.toBe(refusal);
    await pass(60_000);
    await expect(tokenFor()).rejects.toMatchObject({ kind: "unavailable" });
  });

  it.each(["internal", "resource_exhausted"] as const)(
    "is denied if the service answers with %s, because then it is within reach",
    async (kind) => {
      await tokenFor();
      const failure = new DomainError(kind, { reason: "FAILED", message: "Failed." });
      answer = () => Promise.reject(failure);
      await pass(tokenLifeMs);
      await expect(tokenFor()).rejects.toBe(failure);
      expect(await staleCount()).toBe(0);
      // It was no refusal.
      answer = down;
      expect(await tokenFor()).toBe("token-1, stale");
    },
  );

  it("is denied if the recovered service rejects the key", async () => {
    await tokenFor();
    answer = down;
    await pass(tokenLifeMs);
    expect(await tokenFor()).toBe("token-1, stale");
    answer = refused;
    await pass(1_000);
    await tokenFor();
    await pass(0);
    await expect(tokenFor()).rejects.toBe(refusal);
  });

  it("is denied if the key was changed through this gateway", async () => {
    await tokenFor();
    answer = down;
    exchange.forgetWhere(() => true);
    await expect(tokenFor()).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("is denied if the key has expired meanwhile", async () => {
    keyExpiresInSeconds = 120;
    await tokenFor();
    answer = down;
    await pass(119_999);
    expect(await tokenFor()).toBe("token-1, stale");
    await pass(1);
    await expect(tokenFor()).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("is the last one even if a service has rejected its token", async () => {
    const { grant } = await grants.grantFor(request());
    answer = down;
    exchange.expire(request(), grant);
    expect(await tokenFor()).toBe("token-1, stale");
  });

  it("is denied if stale grants are switched off", async () => {
    open(0);
    await tokenFor();
    answer = down;
    await pass(tokenLifeMs * 0.95);
    await expect(tokenFor()).rejects.toMatchObject({ kind: "unavailable" });
  });
});
