import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { KeyKind } from "../../proto/gen/setpoint/organization/v1/access_pb.ts";
import { ExchangeKeyResponseSchema } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { DomainError, unavailable } from "../../services/platform/domain/domain-error.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { nextTurn } from "../../services/platform/time/next-turn.ts";
import { collectGarbage } from "../../test/support/garbage.ts";
import type { AccessClient } from "../clients/access-client.ts";
import { type ExchangeRequest, KeyExchange } from "./key-exchange.ts";
import type { IsChanged } from "./unsettled-changes.ts";

const ttlMs = 60_000;

/** An organization service that issues `token-1`, `token-2` … or fails on request. */
class AccessDouble {
  calls: { readonly key: string; readonly workspaceId: string; readonly requestId: string }[] = [];
  failure: Error | undefined;

  /** How far the clock of the service is ahead of ours. */
  aheadMs = 0;
  ttlMs = ttlMs;
  rateLimit: { readonly requestsPerSecond: number; readonly burst?: number } | undefined;

  readonly client: AccessClient = {
    exchangeKey: async ({ key = "", workspaceId = "" }, { requestId }) => {
      const number = this.calls.push({ key, workspaceId, requestId });
      await Promise.resolve();
      if (this.failure) throw this.failure;
      return create(ExchangeKeyResponseSchema, {
        accessToken: `token-${number}`,
        expireTime: timestampFromMs(Date.now() + this.aheadMs + this.ttlMs),
        expiresInSeconds: this.ttlMs / 1000,
        ...(this.rateLimit && { rateLimit: this.rateLimit }),
        // A key may have several secrets, such as `a/old` and `a/new`.
        principal: {
          organizationId: "organization",
          keyId: `id of ${key.split("/")[0]}`,
          keyKind: key === "management" ? KeyKind.MANAGEMENT : KeyKind.API,
        },
      });
    },
  };
}

let access: AccessDouble;
let exchange: KeyExchange;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  // The clock of the cache.
  vi.spyOn(performance, "now").mockImplementation(() => Date.now());
  access = new AccessDouble();
  exchange = new KeyExchange(access.client, 10);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The cache looks at its clock at most once a millisecond, so it gets a real one. */
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await sleep(2);
}

function request(key = "key", workspaceId = ""): ExchangeRequest {
  return { key, workspaceId, requestId: "request", deadlineMs: monotonicMs() + 1_000 };
}

async function tokenFor(key?: string, workspaceId?: string): Promise<string> {
  return (await exchange.grantFor(request(key, workspaceId))).accessToken;
}

function refusal(kind: "unauthenticated" | "not_found" | "invalid_argument" = "unauthenticated"): DomainError {
  return new DomainError(kind, { reason: "KEY_INVALID", message: "This key is not valid." });
}

describe("KeyExchange", () => {
  it("counts hits, misses and outcomes", async () => {
    await tokenFor("good");
    await tokenFor("good");
    exchange.findGrant("good", "");
    exchange.findGrant("unknown", "");
    access.failure = refusal();
    await expect(tokenFor("bad")).rejects.toThrow();
    await expect(tokenFor("bad")).rejects.toThrow();
    access.failure = unavailable("away");
    await expect(tokenFor("other")).rejects.toThrow();
    expect(exchange.counts.lookups).toEqual({ hit: 2, miss: 3, refused: 1 });
    expect(exchange.counts.exchanges).toEqual({ granted: 1, refused: 1, failed: 1 });
  });

  it("makes one call for simultaneous requests", async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => tokenFor()));
    expect(new Set(tokens)).toEqual(new Set(["token-1"]));
    expect(access.calls).toEqual([{ key: "key", workspaceId: "", requestId: "request" }]);
  });

  it("fails all simultaneous requests if the call fails, and retries for the next", async () => {
    access.failure = unavailable("down");
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => tokenFor()));
    expect(results.map(({ status }) => status)).toEqual(Array(5).fill("rejected"));
    access.failure = undefined;
    expect(await tokenFor()).toBe("token-2");
  });

  it("makes another call if the first would end before half of a request's time is over", async () => {
    const unanswered = Promise.withResolvers<never>();
    vi.spyOn(access.client, "exchangeKey").mockReturnValueOnce(unanswered.promise);
    const first = tokenFor();
    await pass(400);
    const soonAfter = tokenFor();
    expect(access.calls).toEqual([]);
    await pass(200);
    const later = tokenFor();
    expect(access.calls).toHaveLength(1);
    expect(await later).toBe("token-1");
    unanswered.reject(unavailable("no answer in time"));
    expect((await Promise.allSettled([first, soonAfter])).map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
    ]);
    expect(await tokenFor()).toBe("token-1");
  });

  it("shares the later of two calls also once the first has failed", async () => {
    const unanswered = [Promise.withResolvers<never>(), Promise.withResolvers<never>()] as const;
    const calls = vi.spyOn(access.client, "exchangeKey");
    for (const { promise } of unanswered) calls.mockReturnValueOnce(promise);
    const first = tokenFor();
    await pass(600);
    const later = tokenFor();
    unanswered[0].reject(unavailable("no answer in time"));
    await expect(first).rejects.toThrow();
    const shared = tokenFor();
    unanswered[1].reject(unavailable("no answer in time"));
    await Promise.allSettled([later, shared]);
    expect(calls).toHaveBeenCalledTimes(2);
  });

  it("keeps grants separate by key and workspace", async () => {
    expect(await tokenFor("a")).toBe("token-1");
    expect(await tokenFor("b")).toBe("token-2");
    expect(await tokenFor("a", "workspace")).toBe("token-3");
    expect([await tokenFor("a"), await tokenFor("b"), await tokenFor("a", "workspace")]).toEqual([
      "token-1",
      "token-2",
      "token-3",
    ]);
  });

  it("distinguishes management keys from API keys", async () => {
    expect((await exchange.grantFor(request("management"))).isManagement).toBe(true);
    expect((await exchange.grantFor(request("other"))).isManagement).toBe(false);
  });

  it.each([
    ["none", undefined, undefined],
    ["with a burst of its own", { requestsPerSecond: 5, burst: 9 }, { perSecond: 5, burst: 9 }],
    ["with a burst of one second by default", { requestsPerSecond: 5 }, { perSecond: 5, burst: 5 }],
  ])("returns the rate limit of a key: %s", async (_name, rateLimit, expected) => {
    access.rateLimit = rateLimit;
    expect((await exchange.grantFor(request())).rateLimit).toEqual(expected);
  });

  it("renews a grant in the background while it is still valid", async () => {
    await tokenFor();
    vi.advanceTimersByTime(ttlMs * 0.6 - 1);
    await tokenFor();
    expect(access.calls).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(await tokenFor()).toBe("token-1");
    expect(access.calls).toHaveLength(2);
    // No time passes: the first one would still be valid.
    await nextTurn();
    expect(await tokenFor()).toBe("token-2");
    expect(access.calls).toHaveLength(2);
  });

  it("asks again in the last second of a key, when its token may expire any moment", async () => {
    access.ttlMs = 3_000;
    await tokenFor();
    vi.advanceTimersByTime(1_799);
    await tokenFor();
    expect(access.calls).toHaveLength(1);
    access.failure = refusal();
    vi.advanceTimersByTime(201);
    await expect(tokenFor()).rejects.toBe(access.failure);
  });

  it("keeps using a valid grant that cannot be renewed until it expires", async () => {
    await tokenFor();
    access.failure = unavailable("down");
    vi.advanceTimersByTime(ttlMs * 0.9 - 1);
    expect(await tokenFor()).toBe("token-1");
    vi.advanceTimersByTime(1);
    await expect(tokenFor()).rejects.toMatchObject({ kind: "unavailable" });
  });

  it.each([-3_600_000, -90_000, 90_000, 3_600_000])(
    "keeps a grant for its lifetime if the service's clock is off by %i ms",
    async (aheadMs) => {
      access.aheadMs = aheadMs;
      await tokenFor();
      vi.advanceTimersByTime(ttlMs * 0.6 - 1);
      expect(await tokenFor()).toBe("token-1");
      expect(access.calls).toHaveLength(1);
      vi.advanceTimersByTime(ttlMs * 0.3 + 1);
      expect(await tokenFor()).toBe("token-2");
    },
  );

  it("does not use a token just before it expires", async () => {
    await tokenFor();
    vi.advanceTimersByTime(ttlMs * 0.9);
    expect(await tokenFor()).toBe("token-2");
  });

  it.each(["unauthenticated", "not_found", "invalid_argument"] as const)(
    "remembers a rejected key for five seconds: %s",
    async (kind) => {
      access.failure = refusal(kind);
      for (let n = 0; n < 3; n += 1) await expect(tokenFor()).rejects.toBe(access.failure);
      expect(access.calls).toHaveLength(1);
      access.failure = undefined;
      vi.advanceTimersByTime(4_900);
      await expect(tokenFor()).rejects.toMatchObject({ kind });
      await pass(200);
      expect(await tokenFor()).toBe("token-2");
    },
  );

  it("does not remember an unanswered call", async () => {
    access.failure = unavailable("down");
    await expect(tokenFor()).rejects.toThrow();
    await expect(tokenFor()).rejects.toThrow();
    expect(access.calls).toHaveLength(2);
  });

  it("stops using a key as soon as a renewal is rejected", async () => {
    await tokenFor();
    access.failure = refusal();
    vi.advanceTimersByTime(ttlMs * 0.6);
    expect(await tokenFor()).toBe("token-1");
    // No time passes: the grant itself would still be valid.
    await nextTurn();
    await expect(tokenFor()).rejects.toMatchObject({ kind: "unauthenticated" });
  });

  it("asks again for an expired grant, but keeps its replacement", async () => {
    const refused = await exchange.grantFor(request());
    exchange.expire(request(), refused);
    expect(await tokenFor()).toBe("token-2");
    exchange.expire(request(), refused);
    expect(await tokenFor()).toBe("token-2");
  });

  it("keeps a bounded number of grants and rejections", async () => {
    for (let n = 0; n < 11; n += 1) await tokenFor(`key-${n}`);
    access.calls = [];
    await tokenFor("key-10");
    expect(access.calls).toHaveLength(0);
    await tokenFor("key-0");
    expect(access.calls).toHaveLength(1);

    access.failure = refusal();
    for (let n = 0; n < 11; n += 1) await expect(tokenFor(`bad-${n}`)).rejects.toThrow();
    access.calls = [];
    await expect(tokenFor("bad-10")).rejects.toThrow();
    expect(access.calls).toHaveLength(0);
    await expect(tokenFor("bad-0")).rejects.toThrow();
    expect(access.calls).toHaveLength(1);
  });
});

describe("KeyExchange after key changes", () => {
  it("asks again for changed keys only", async () => {
    expect([await tokenFor("a"), await tokenFor("a", "workspace"), await tokenFor("b")]).toEqual([
      "token-1",
      "token-2",
      "token-3",
    ]);
    exchange.forgetWhere(({ keyId }) => keyId === "id of a");
    expect([await tokenFor("b"), await tokenFor("a"), await tokenFor("a", "workspace")]).toEqual([
      "token-3",
      "token-4",
      "token-5",
    ]);
  });

  it("asks again for every secret of a key if one of them is recognized", async () => {
    for (const key of ["a/old", "a/new", "b"]) await tokenFor(key);
    exchange.forgetWhere((_, secret) => secret === "a/new");
    expect([await tokenFor("b"), await tokenFor("a/old")]).toEqual(["token-3", "token-4"]);
  });

  it("asks again for a rejected key", async () => {
    access.failure = refusal();
    await expect(tokenFor()).rejects.toThrow();
    access.failure = undefined;
    exchange.forgetWhere(() => false);
    expect(await tokenFor()).toBe("token-2");
  });

  it("repeats only exchanges of changed keys that were in progress", async () => {
    const [before, another] = [tokenFor("a"), tokenFor("b")];
    exchange.forgetWhere(({ keyId }) => keyId === "id of a");
    const after = tokenFor("a");
    expect([await before, await another, await after]).toEqual(["token-4", "token-2", "token-3"]);
    expect([await tokenFor("a"), await tokenFor("b")]).toEqual(["token-4", "token-2"]);
    expect(access.calls).toHaveLength(4);
  });

  it("repeats an exchange in progress if another secret of its key is recognized", async () => {
    await tokenFor("a/new");
    const before = tokenFor("a/old");
    exchange.forgetWhere((_, secret) => secret === "a/new");
    expect([await before, await tokenFor("a/old")]).toEqual(["token-3", "token-3"]);
  });

  it("keeps nothing of a change once the exchanges from before it are over", async () => {
    await tokenFor();
    const changes = Array.from({ length: 10 }, (): IsChanged => (_, secret) => secret === "other");
    const kept = changes.map((change) => new WeakRef(change));
    for (const change of changes.splice(0)) exchange.forgetWhere(change);
    await nextTurn();
    collectGarbage();
    // The last one may still be on the stack.
    expect(kept.filter((change) => change.deref()).length).toBeLessThan(2);
  });

  it("asks again after a change, instead of waiting for an exchange from before it", async () => {
    const answer = Promise.withResolvers<never>();
    vi.spyOn(access.client, "exchangeKey").mockReturnValueOnce(answer.promise);
    const before = tokenFor();
    exchange.forgetWhere(({ keyId }) => keyId === "id of key");
    expect(await tokenFor()).toBe("token-1");
    answer.reject(refusal());
    await expect(before).rejects.toMatchObject({ kind: "unauthenticated" });
    expect(await tokenFor()).toBe("token-2");
  });

  it("rejects a key after one exchange, however often others change theirs", async () => {
    const client = vi.spyOn(access.client, "exchangeKey").mockImplementation(async () => {
      if (client.mock.calls.length < 10) exchange.forgetWhere(() => false);
      throw refusal();
    });
    await expect(tokenFor()).rejects.toMatchObject({ kind: "unauthenticated" });
    expect(client).toHaveBeenCalledOnce();
  });

  describe("while a change of unknown outcome may yet be stored", () => {
    const isNamed: IsChanged = (_principal, secret) => secret === "a/old";
    const asked = () => access.calls.map(({ key }) => key);

    it("asks about its key each time, and caches it after that", async () => {
      for (const key of ["a/old", "b"]) await tokenFor(key);
      exchange.forgetUntilSettled("organization", isNamed);
      for (const key of ["a/old", "a/new", "a/old", "b"]) await tokenFor(key);
      expect(asked()).toEqual(["a/old", "b", "a/old", "a/new", "a/old"]);
      await pass(30_000);
      for (const key of ["a/old", "a/new", "a/old", "a/new"]) await tokenFor(key);
      expect(asked().slice(5)).toEqual(["a/old", "a/new"]);
    });

    it("knows its key, but has no grant of it that could be used without asking", async () => {
      await tokenFor("a/old");
      exchange.forgetUntilSettled("organization", isNamed);
      for (const _when of ["before", "after"]) {
        expect(exchange.knows("a/old", "")).toBe(true);
        expect(exchange.lastGrantOf(request("a/old"))?.keyEndsAtMs).toBe(0);
        await tokenFor("a/old");
      }
    });

    it("asks about all keys of an organization that makes many such changes, and of no other", async () => {
      const changeOften = (organizationId: string, isChanged: IsChanged) => {
        for (let count = 0; count < 17; count += 1) exchange.forgetUntilSettled(organizationId, isChanged);
      };
      changeOften("another", () => true);
      for (const key of ["b", "b"]) await tokenFor(key);
      expect(asked()).toEqual(["b"]);
      changeOften("organization", () => false);
      for (const key of ["c", "c"]) await tokenFor(key);
      expect(asked()).toEqual(["b", "c", "c"]);
    });
  });
});
