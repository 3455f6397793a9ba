import { create } from "@bufbuild/protobuf";
import { beforeEach, describe, expect, it } from "vitest";
import {
  type Preset,
  PresetSchema,
  PresetStatus,
  type PresetVersion,
  PresetVersionSchema,
} from "../../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { DomainError, deadlineExceeded, unavailable } from "../../../services/platform/domain/domain-error.ts";
import { Metrics } from "../../../services/platform/observe/metrics.ts";
import type { CallOptions } from "../../../services/platform/rpc/grpc-client.ts";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import { pass, stopTime } from "../../../test/support/fake-time.ts";
import type { InferenceCaller } from "./inference-caller.ts";
import { type CachedPreset, PresetCache, type PresetCacheConfig } from "./preset-cache.ts";

const mebibyte = 1024 * 1024;
const chat = "chat/completions";

interface StoredPreset {
  version: number;
  revision: number;
  status: PresetStatus;
  systemPrompt: string;
}

/** A preset service that knows what the test puts there, and answers at once unless told otherwise. */
class PresetDouble {
  readonly stored = new Map<string, StoredPreset>();
  calls: string[] = [];
  hints: string[] = [];
  failure: Error | undefined;
  /** Rejections by access token. */
  readonly refused = new Map<string, Error>();
  #held: (() => void)[] | undefined;
  #heldSlug: string | undefined;

  readonly client = {
    getPreset: ({ slug, knownVersionId }: { slug: string; knownVersionId?: string }, options: CallOptions) =>
      this.#answer(options, slug, (workspace) => {
        const stored = this.stored.get(`${workspace} ${slug}`);
        if (!stored) throw notFound("PRESET_NOT_FOUND");
        return this.#preset(workspace, slug, stored, knownVersionId);
      }),
    getVersion: ({ slug = "", version = 0 }, options: CallOptions) =>
      this.#answer(options, `${slug}@${version}`, (workspace) => {
        if (version > (this.stored.get(`${workspace} ${slug}`)?.version ?? 0)) throw notFound("VERSION_NOT_FOUND");
        return { version: this.#version(workspace, slug, version) };
      }),
    findSimilarSlug: async ({ slug = "" }) => {
      this.hints.push(slug);
      return { slug: slug.startsWith("bo") ? "bot" : "" };
    },
  } as unknown as ConstructorParameters<typeof PresetCache>[0];

  /** The answer to whoever makes the change. */
  put(slug: string, change: Partial<StoredPreset> = {}, workspace = "ws"): Preset {
    const key = `${workspace} ${slug}`;
    const before = this.stored.get(key) ?? { version: 1, revision: 0, status: PresetStatus.ACTIVE, systemPrompt: "" };
    const stored = { ...before, revision: before.revision + 1, ...change };
    this.stored.set(key, stored);
    return this.#preset(workspace, slug, stored);
  }

  /** From here on calls, or those for one preset, see what is stored now, but their answers are held back. */
  hold(slug?: string): void {
    this.#held ??= [];
    this.#heldSlug = slug;
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const answer of held) answer();
  }

  #preset(workspace: string, slug: string, { status, version, revision }: StoredPreset, knownVersionId?: string) {
    const designatedVersion = withoutKnown(this.#version(workspace, slug, version), knownVersionId);
    return create(PresetSchema, {
      id: `id of ${workspace} ${slug}`,
      slug,
      workspaceId: workspace,
      status,
      designatedVersion,
      revision,
    });
  }

  #version(workspace: string, slug: string, version: number) {
    const { systemPrompt = "" } = this.stored.get(`${workspace} ${slug}`) ?? {};
    return create(PresetVersionSchema, {
      id: `${workspace} ${slug} ${version}`,
      presetId: `id of ${workspace} ${slug}`,
      version,
      configJson: `{"seed":${version}}`,
      systemPrompt,
    });
  }

  async #answer<T>({ accessToken = "" }: CallOptions, what: string, make: (workspace: string) => T): Promise<T> {
    const [, workspace = ""] = accessToken.split(" of ");
    this.calls.push(what);
    const outcome = attempt(() => {
      const failure = this.failure ?? this.refused.get(accessToken);
      if (failure) throw failure;
      return make(workspace);
    });
    if (this.#held && (this.#heldSlug ?? what) === what)
      await new Promise<void>((resolve) => this.#held?.push(resolve));
    return outcome();
  }
}

function withoutKnown(version: PresetVersion, knownVersionId: string | undefined): PresetVersion {
  const { id, presetId, version: number } = version;
  return id === knownVersionId ? create(PresetVersionSchema, { id, presetId, version: number }) : version;
}

function attempt<T>(make: () => T): () => T {
  try {
    const made = make();
    return () => made;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function notFound(reason: string): DomainError {
  return new DomainError("not_found", { reason, message: "There is none." });
}

function refusal(kind: "permission_denied" | "unauthenticated"): DomainError {
  return new DomainError(kind, { reason: "NO", message: "No." });
}

function callerOf(keyId = "key", { workspaceId = "ws", isStale = false } = {}): InferenceCaller {
  const accessToken = `${keyId} of ${workspaceId}`;
  return {
    principal: { keyId, workspaceId },
    isStale,
    call: (rpc) => rpc({ accessToken, requestId: "request", deadlineMs: monotonicMs() + 10_000 }),
  };
}

let service: PresetDouble;
let metrics: Metrics;
let presets: PresetCache;

function open(config: Partial<PresetCacheConfig> = {}): void {
  metrics = new Metrics("test");
  const defaults = { presetCacheBytesMax: 32 * mebibyte, presetStaleMaxMs: 24 * 3_600_000 };
  presets = new PresetCache(service.client, { ...defaults, ...config }, metrics);
}

stopTime();

beforeEach(() => {
  service = new PresetDouble();
  service.put("bot");
  open();
});

async function find(slug = "bot", caller = callerOf(), version?: number): Promise<CachedPreset> {
  return presets.get(caller, { slug, version }, chat);
}

async function versionOf(...parts: Parameters<typeof find>): Promise<string> {
  const { version, isStale } = await find(...parts);
  return isStale ? `${version}, stale` : `${version}`;
}

/** The outcome if no time passes. */
async function atOnce<T>(promise: Promise<T>): Promise<T | "waits"> {
  let outcome: () => T | "waits" = () => "waits";
  promise.then(
    (value) => {
      outcome = () => value;
    },
    (error) => {
      outcome = () => {
        throw error;
      };
    },
  );
  await pass(0);
  return outcome();
}

async function counted(name: string): Promise<number> {
  const line = (await metrics.registry.metrics())
    .split("\n")
    .find((each) => each.startsWith("setpoint_") && each.includes(name));
  return Number(line?.split(" ").at(-1));
}

describe("a cached preset", () => {
  it("is served without a call or a wait for up to 0.7 s", async () => {
    await find();
    await pass(699);
    const found = presets.get(callerOf("another"), { slug: "bot", version: undefined }, chat);
    expect(found).toMatchObject({ slug: "bot", version: 1, isStale: false });
    expect(service.calls).toEqual(["bot"]);
  });

  it("is served for up to 1 s while refreshed once in the background", async () => {
    await find();
    service.put("bot", { version: 2 });
    service.hold();
    await pass(700);
    for (let n = 0; n < 3; n += 1) expect(await versionOf()).toBe("1");
    expect(service.calls).toEqual(["bot", "bot"]);
    service.release();
    await pass(0);
    expect(await versionOf()).toBe("2");
  });

  it("stays fresh while in use, without making anyone wait", async () => {
    await find();
    for (let n = 0; n < 100; n += 1) {
      await pass(100);
      expect(presets.get(callerOf(), { slug: "bot", version: undefined }, chat)).not.toBeInstanceOf(Promise);
    }
    expect(await counted('outcome="hit"')).toBe(100);
    expect(service.calls.length).toBeLessThanOrEqual(1 + 10_000 / 700);
  });

  it.each([1_000, 10_000, 3_600_000])("is refreshed before it is served at %i ms, once for all callers", async (ms) => {
    await find();
    service.put("bot", { version: 2 });
    await pass(ms);
    expect(await Promise.all([versionOf(), versionOf(), versionOf()])).toEqual(["2", "2", "2"]);
    expect(service.calls).toHaveLength(2);
  });

  it("is served for up to 10 s if the refresh takes more than 100 ms", async () => {
    await find();
    await pass(5_000);
    service.hold();
    const first = versionOf();
    await pass(60);
    const second = versionOf();
    await pass(39);
    expect(await atOnce(second)).toBe("waits");
    await pass(1);
    expect(await Promise.all([first, second])).toEqual(["1, stale", "1, stale"]);
    expect(await atOnce(versionOf())).toBe("1, stale");
    expect(service.calls).toHaveLength(2);
  });

  it("older than 10 s waits for a slow service", async () => {
    await find();
    service.put("bot", { version: 2 });
    await pass(10_001);
    service.hold();
    const found = versionOf();
    await pass(400);
    expect(await atOnce(found)).toBe("waits");
    service.release();
    expect(await found).toBe("2");
  });
});

describe("a cached preset while the preset service is unreachable", () => {
  it.each([unavailable("down"), deadlineExceeded()])(
    "is served for up to 24 h, and not longer: %s",
    async (failure) => {
      await find();
      service.failure = failure;
      for (let n = 0; n < 24; n += 1) {
        await pass(3_600_000 - 5);
        expect(await versionOf()).toBe("1, stale");
      }
      await pass(200);
      await expect(find()).rejects.toBe(failure);
      service.failure = undefined;
      expect(await versionOf()).toBe("1");
    },
  );

  it("is not served after 10 s if stale presets are switched off", async () => {
    open({ presetStaleMaxMs: 0 });
    await find();
    service.failure = unavailable("down");
    await pass(9_000);
    expect(await versionOf()).toBe("1, stale");
    await pass(1_001);
    await expect(find()).rejects.toBe(service.failure);
  });

  it("is served at once after the first failure, and refreshed once a second", async () => {
    await find();
    await pass(60_000);
    service.failure = unavailable("down");
    await find();
    service.calls = [];
    for (let n = 0; n < 100; n += 1) {
      expect(await atOnce(versionOf())).toBe("1, stale");
      await pass(100);
    }
    expect(service.calls.length).toBeGreaterThanOrEqual(9);
    expect(service.calls.length).toBeLessThanOrEqual(11);
    expect(await counted("renewal_failures")).toBe(service.calls.length + 1);
  });

  it("is served after half a second if the service is silent, and then at once", async () => {
    service.put("other");
    await find();
    await find("other");
    await pass(60_000);
    service.hold();
    const first = versionOf();
    await pass(499);
    expect(await atOnce(first)).toBe("waits");
    await pass(1);
    expect(await first).toBe("1, stale");
    expect(await atOnce(versionOf())).toBe("1, stale");
    expect(await atOnce(versionOf("other"))).toBe("1, stale");
    expect(service.calls).toEqual(["bot", "other", "bot", "other"]);
  });

  it("is refreshed once the service is back", async () => {
    await find();
    await pass(60_000);
    service.failure = unavailable("down");
    expect(await versionOf()).toBe("1, stale");
    service.failure = undefined;
    service.put("bot", { version: 2 });
    await pass(1_000);
    await find();
    await pass(0);
    expect(await versionOf()).toBe("2");
  });

  it("is served for a stale grant that the service rejects, and refreshed by others", async () => {
    const stale = callerOf("old", { isStale: true });
    service.refused.set("old of ws", refusal("unauthenticated"));
    await find();
    await pass(60_000);
    service.put("bot", { version: 2 });
    expect(await versionOf("bot", stale)).toBe("1, stale");
    expect(await versionOf()).toBe("2");
    expect(await versionOf("bot", stale)).toBe("2");
  });

  it("is 503 for a stale grant that the service rejects, if it is not cached: the key was not refused", async () => {
    const stale = callerOf("old", { isStale: true });
    const fresh = callerOf("old");
    service.refused.set("old of ws", refusal("unauthenticated"));
    await expect(find("bot", stale)).rejects.toMatchObject({ kind: "unavailable" });
    await expect(find("bot", fresh)).rejects.toMatchObject({ kind: "unauthenticated" });
    await find();
    await expect(find("bot", stale, 2)).rejects.toMatchObject({ kind: "unavailable" });
    await expect(find("bot", fresh, 2)).rejects.toMatchObject({ kind: "unauthenticated" });
  });

  it("is refreshed with few calls, however many presets there are", async () => {
    const slugs = Array.from({ length: 1_000 }, (_, index) => `bot-${index}`);
    for (const slug of slugs) {
      service.put(slug);
      await find(slug);
    }
    await pass(60_000);
    service.hold();
    const first = find("bot-0");
    await pass(500);
    await first;
    service.calls = [];
    for (const slug of slugs) expect(await atOnce(versionOf(slug))).toBe("1, stale");
    expect(service.calls.length).toBeLessThanOrEqual(64);
  });
});

describe("a preset that cannot be used", () => {
  it.each([
    [PresetStatus.DISABLED, "PRESET_DISABLED"],
    [PresetStatus.ARCHIVED, "PRESET_ARCHIVED"],
  ])("is rejected as soon as the change is seen, and served again once restored: %i", async (status, reason) => {
    await find();
    service.put("bot", { status });
    await pass(1_000);
    const error = await find().catch((thrown) => thrown);
    expect(error).toMatchObject({ kind: "failed_precondition", reason });
    expect(error.message).toContain('PATCH /api/v1/presets/bot with {"status": "active"}');
    await expect(find("bot", callerOf(), 1)).rejects.toMatchObject({ reason });
    expect(service.calls).toHaveLength(2);
    service.put("bot", { status: PresetStatus.ACTIVE });
    await pass(1_000);
    expect(await versionOf()).toBe("1");
  });

  it("stays rejected while the service is unreachable", async () => {
    service.put("bot", { status: PresetStatus.DISABLED });
    await expect(find()).rejects.toMatchObject({ reason: "PRESET_DISABLED" });
    service.failure = unavailable("down");
    await pass(60_000);
    await expect(find()).rejects.toMatchObject({ reason: "PRESET_DISABLED" });
  });

  it("is remembered as missing for a second", async () => {
    for (let n = 0; n < 3; n += 1) await expect(find("none")).rejects.toMatchObject({ kind: "not_found" });
    expect(service.calls).toEqual(["none"]);
    service.put("none");
    await pass(999);
    await expect(find("none")).rejects.toMatchObject({ kind: "not_found" });
    await pass(1);
    expect(await versionOf("none")).toBe("1");
    expect(await counted('outcome="refused"')).toBe(4);
  });

  it("is rejected with a suggestion of a similar slug", async () => {
    await expect(find("bott")).rejects.toThrow(/no preset bott .* Did you mean bot\?/);
    await expect(find("none")).rejects.toThrow(/Check the slug/);
    const slugs = Array.from({ length: 100 }, (_, index) => `bo-${index}`);
    service.hints = [];
    await Promise.allSettled(slugs.map((slug) => find(slug)));
    expect(service.hints.length).toBeLessThanOrEqual(8);
  });

  it("is dropped once deleted, even while the service is unreachable", async () => {
    await find();
    service.stored.clear();
    await pass(1_000);
    await expect(find()).rejects.toMatchObject({ reason: "PRESET_NOT_FOUND" });
    service.failure = unavailable("down");
    await pass(1_000);
    await expect(find()).rejects.toBe(service.failure);
  });
});

describe("callers", () => {
  it("never see another workspace's preset of the same slug", async () => {
    service.put("bot", { version: 7, systemPrompt: "theirs" }, "other");
    expect(await versionOf("bot", callerOf("a"))).toBe("1");
    expect(await versionOf("bot", callerOf("b", { workspaceId: "other" }))).toBe("7");
    await expect(find("bot", callerOf("c", { workspaceId: "third" }))).rejects.toMatchObject({ kind: "not_found" });
    await expect(find("bot", callerOf("d", { workspaceId: "" }))).rejects.toMatchObject({
      reason: "WORKSPACE_NOT_FOUND",
    });
    service.failure = unavailable("down");
    await pass(60_000);
    expect(await versionOf("bot", callerOf("a"))).toBe("1, stale");
    expect(await versionOf("bot", callerOf("b", { workspaceId: "other" }))).toBe("7, stale");
  });

  it("do not get what the service answers for another workspace, and it is not cached", async () => {
    service.put("bot", { version: 7 }, "other");
    const { principal } = callerOf();
    const mistaken = { ...callerOf("key", { workspaceId: "other" }), principal };
    await expect(find("bot", mistaken)).rejects.toThrow("answered for another workspace");
    expect(await versionOf()).toBe("1");
  });

  it("that are rejected do not affect the others", async () => {
    service.refused.set("bad of ws", refusal("permission_denied"));
    await find();
    await pass(2_000);
    await expect(find("bot", callerOf("bad"))).rejects.toMatchObject({ kind: "permission_denied" });
    await expect(find("bot", callerOf("bad"))).rejects.toMatchObject({ kind: "permission_denied" });
    service.failure = unavailable("down");
    expect(await versionOf()).toBe("1, stale");
  });

  it("do not share another's rejection, but ask with their own token", async () => {
    service.refused.set("bad of ws", refusal("permission_denied"));
    const results = await Promise.allSettled([
      find("bot", callerOf("bad")),
      find("bot", callerOf("bad")),
      find("bot", callerOf("good")),
      find("bot", callerOf("also")),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled", "fulfilled"]);
    expect(service.calls).toHaveLength(2);
  });

  it("have their own deadline, not the rest of another's", async () => {
    service.failure = deadlineExceeded();
    service.hold();
    const first = find();
    await pass(9_000);
    const second = find();
    service.failure = undefined;
    service.release();
    await expect(first).rejects.toMatchObject({ kind: "deadline_exceeded" });
    expect((await second).version).toBe(1);
    expect(service.calls).toHaveLength(2);
  });
});

describe("a change through this gateway", () => {
  it("is seen by the next request, and not undone by an earlier read", async () => {
    await find();
    await pass(700);
    service.hold();
    await find();
    await presets.changing("ws", "bot", async () => service.put("bot", { version: 2 }));
    const next = versionOf();
    service.release();
    expect(await next).toBe("2");
    expect(await versionOf()).toBe("2");
  });

  it("is not undone by an earlier read that is answered after the next one", async () => {
    await find();
    await pass(700);
    service.hold();
    await find();
    await presets.changing("ws", "bot", async () => service.put("bot", { version: 2 }));
    service.hold("another");
    expect(await versionOf()).toBe("2");
    service.release();
    await pass(0);
    expect(await versionOf()).toBe("2");
  });

  it("makes a missing preset available", async () => {
    await expect(find("new")).rejects.toThrow();
    service.hold();
    const before = find("new", callerOf("other")).catch(() => "not found");
    await presets.changing("ws", "new", async () => service.put("new"));
    service.release();
    await before;
    expect(await versionOf("new")).toBe("1");
  });

  it("makes a missing version available", async () => {
    await expect(find("bot", callerOf(), 2)).rejects.toMatchObject({ reason: "VERSION_NOT_FOUND" });
    await presets.changing("ws", "bot", async () => service.put("bot", { version: 3 }));
    expect(await versionOf("bot", callerOf(), 2)).toBe("2");
  });

  it("is served even if the service becomes unreachable right after it", async () => {
    await find();
    await presets.changing("ws", "bot", async () => service.put("bot", { version: 2 }));
    service.failure = unavailable("down");
    expect(await versionOf()).toBe("2, stale");
    await presets.changing("ws", "bot", async () => service.put("bot", { status: PresetStatus.DISABLED }));
    await expect(find()).rejects.toMatchObject({ reason: "PRESET_DISABLED" });
  });

  it("that is only a repeated older answer does not replace newer state", async () => {
    const first = service.put("bot", { version: 2 });
    service.put("bot", { version: 3 });
    await find();
    await presets.changing("ws", "bot", async () => first);
    service.put("bot", { version: 4 });
    expect(await versionOf()).toBe("4");
    await presets.changing("ws", "bot", async () => first);
    service.failure = unavailable("down");
    expect(await versionOf()).toBe("4, stale");
  });

  it("with an unknown outcome causes a refresh, without dropping the preset", async () => {
    await find();
    service.put("bot", { version: 2 });
    const change = () => presets.changing("ws", "bot", () => Promise.reject(unavailable("down")));
    await expect(change()).rejects.toMatchObject({ kind: "unavailable" });
    expect(await versionOf()).toBe("2");
    service.failure = unavailable("down");
    await expect(change()).rejects.toMatchObject({ kind: "unavailable" });
    expect(await versionOf()).toBe("2, stale");
  });
});

describe("a pinned version", () => {
  it("is read once, and its preset is refreshed as usual", async () => {
    service.put("bot", { version: 3 });
    expect(await versionOf("bot", callerOf(), 2)).toBe("2");
    for (let n = 0; n < 5; n += 1) {
      await pass(60_000);
      expect(await versionOf("bot", callerOf(), 2)).toBe("2");
    }
    expect(service.calls.filter((call) => call === "bot@2")).toHaveLength(1);
    expect(service.calls.filter((call) => call === "bot")).toHaveLength(6);
    service.put("bot", { status: PresetStatus.ARCHIVED });
    await pass(1_000);
    await expect(find("bot", callerOf(), 2)).rejects.toMatchObject({ reason: "PRESET_ARCHIVED" });
  });

  it("that is the designated one needs no extra call", async () => {
    await find("bot", callerOf(), 1);
    expect(service.calls).toEqual(["bot"]);
  });

  it("is still served while the service is unreachable", async () => {
    service.put("bot", { version: 3 });
    await find("bot", callerOf(), 2);
    service.failure = unavailable("down");
    await pass(60_000);
    expect(await versionOf("bot", callerOf(), 2)).toBe("2, stale");
    await expect(find("bot", callerOf(), 1)).rejects.toBe(service.failure);
  });

  it("that is missing is remembered for as long as the preset is fresh", async () => {
    for (let n = 0; n < 3; n += 1)
      await expect(find("bot", callerOf(), 9)).rejects.toMatchObject({ reason: "VERSION_NOT_FOUND" });
    expect(service.calls).toEqual(["bot", "bot@9"]);
    service.put("bot", { version: 9 });
    await pass(1_000);
    expect(await versionOf("bot", callerOf(), 9)).toBe("9");
  });
});

describe("the memory of the cache", () => {
  it("is bounded in bytes, including prepared dialects, and keeps presets in use", async () => {
    open({ presetCacheBytesMax: 16 * mebibyte });
    for (let n = 0; n < 100; n += 1) {
      service.put(`large-${n}`, { systemPrompt: "s".repeat(mebibyte) });
      await presets.get(callerOf(), { slug: `large-${n}`, version: undefined }, chat);
      await presets.get(callerOf(), { slug: `large-${n}`, version: undefined }, "messages");
      await find();
    }
    const bytes = await counted("cache_bytes");
    expect(bytes).toBeLessThanOrEqual(16 * mebibyte);
    expect(bytes).toBeGreaterThan(12 * mebibyte);
    service.calls = [];
    await find("bot");
    await find("large-99");
    expect(service.calls).toEqual([]);
    await find("large-90");
    expect(service.calls).toEqual(["large-90"]);
  });

  it("is bounded for 10,000 presets and their pinned versions", async () => {
    open({ presetCacheBytesMax: 16 * mebibyte });
    for (let n = 0; n < 10_000; n += 1) {
      service.put(`bot-${n}`, { version: 2, systemPrompt: "s".repeat(1_000) });
      await find(`bot-${n}`);
      await find(`bot-${n}`, callerOf(), 1);
    }
    const bytes = await counted("cache_bytes");
    expect(bytes).toBeLessThanOrEqual(16 * mebibyte);
    expect(bytes).toBeGreaterThan(15 * mebibyte);
    service.calls = [];
    await find("bot-9999", callerOf(), 1);
    expect(service.calls).toEqual([]);
  });

  it("is not filled by missing slugs", async () => {
    await find();
    for (let n = 0; n < 10_000; n += 1) await find(`none-${n}`).catch(() => {});
    expect(await counted("cache_bytes")).toBeLessThan(10_000);
    service.calls = [];
    await find("none-9999").catch(() => {});
    expect(service.calls).toEqual([]);
    await find("none-0").catch(() => {});
    expect(service.calls).toEqual(["none-0"]);
    await find();
    expect(service.calls).toEqual(["none-0"]);
  });

  it("holds presets prepared once, however often they are refreshed", async () => {
    const { prepared } = await find();
    await pass(60_000);
    expect((await find()).prepared).toBe(prepared);
  });

  it("keeps a preset intact that was evicted during its refresh", async () => {
    open({ presetCacheBytesMax: 4 * mebibyte });
    service.put("bot", { systemPrompt: "s".repeat(mebibyte) });
    const { prepared } = await find();
    service.hold("bot");
    await pass(1_000);
    const confirmed = find();
    for (let n = 0; n < 4; n += 1) {
      service.put(`other-${n}`, { systemPrompt: "s".repeat(mebibyte) });
      await find(`other-${n}`);
    }
    service.release();
    expect((await confirmed).prepared).toBe(prepared);
    expect((await find()).prepared).toBe(prepared);
  });
});
