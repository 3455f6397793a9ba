import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  checkExpiry,
  checkKeyCreation,
  checkKeyRotation,
  checkManagementRemains,
  creationDigest,
  type KeyCreation,
  orderedPermissions,
  rotatedKey,
  rotationDigest,
  updatedKey,
} from "./key-changes.ts";
import { type Key, newApiKey, newManagementKey, newSecret } from "./keys.ts";

const now = new Date("2026-01-01T00:00:00.000Z");
const soon = new Date("2026-01-02T00:00:00.000Z");
const later = new Date("2026-01-03T00:00:00.000Z");
const owner = { name: "Key", organizationId: "o", creatorUserId: "user_1", expiresAt: undefined };
const api = newApiKey(owner, { workspaceId: "w", permissions: ["presets:read"] }).key;

const management = (parts: Partial<Key> = {}): Key => ({ ...newManagementKey(owner).key, ...parts });

describe("an update of a key", () => {
  it("returns the same key if nothing differs", () => {
    expect(updatedKey(api, { name: "Key", disabled: false, expiresAt: null, permissions: ["presets:read"] }, now)).toBe(
      api,
    );
  });

  it("changes the given fields, and records when", () => {
    expect(updatedKey(api, { disabled: true, expiresAt: soon }, now)).toEqual({
      ...api,
      disabled: true,
      expiresAt: soon,
      updatedAt: now,
    });
  });
});

describe("the permissions of a key", () => {
  it.each([
    [[], ["presets:read", "presets:write", "inference"]],
    [
      ["inference", "presets:read", "inference"],
      ["presets:read", "inference"],
    ],
  ])("are %j in order, without duplicates", (given, expected) => {
    expect(orderedPermissions(given)).toEqual(expected);
  });
});

describe("a rotated key", () => {
  it("keeps everything but its secret", () => {
    const made = newSecret();
    const { secret: _, ...kept } = made;
    expect(rotatedKey(api, made, 0, now)).toEqual({ ...api, ...kept, updatedAt: now, previousExpiresAt: undefined });
    expect(rotatedKey(api, made, 86_400, now).previousExpiresAt).toEqual(soon);
  });
});

describe("a change of management keys", () => {
  const [forever, other] = [management(), management()];
  const off = (key: Key): Key => ({ ...key, disabled: true });
  it.each([
    ["the only key is disabled", [forever], [off(forever)], false],
    ["the only key is revoked", [forever], [{ ...forever, revokedAt: now }], false],
    ["the only key is given an expiry", [forever], [{ ...forever, expiresAt: later }], false],
    ["the only key is renamed", [forever], [{ ...forever, name: "New" }], true],
    ["one of two is disabled", [forever, other], [off(forever)], true],
    ["both of two are disabled", [forever, other], [off(forever), off(other)], false],
    ["the remaining key expires sooner", [forever, management({ expiresAt: later })], [off(forever)], false],
    ["the remaining key has expired", [forever, management({ expiresAt: now })], [off(forever)], false],
    [
      "the remaining key lasts longer",
      [management({ expiresAt: soon, id: "x" }), management({ expiresAt: later })],
      [off(management({ id: "x" }))],
      true,
    ],
    ["an expired key is disabled", [management({ expiresAt: now, id: "x" })], [off(management({ id: "x" }))], true],
    ["a key of another kind is disabled", [forever], [off(api)], true],
  ])("is checked when %s", (_name, keys, changed, isAllowed) => {
    const check = () => checkManagementRemains(keys, changed, now);
    if (isAllowed) check();
    else expect(check).toThrow(expect.objectContaining({ reason: "LAST_MANAGEMENT_KEY" }));
  });
});

const creation: KeyCreation = {
  name: "CI",
  kind: "api",
  workspace: "",
  creatorUserId: "",
  expiresAt: undefined,
  permissions: [],
  requestId: "a",
};

describe("a requested key", () => {
  it.each<[string, Partial<KeyCreation>, boolean]>([
    ["expires now", { expiresAt: now }, false],
    ["expires a millisecond from now", { expiresAt: new Date(now.getTime() + 1) }, true],
    [
      "is a management key with all permissions of its kind",
      { kind: "management", permissions: ["presets:write", "presets:read"] },
      true,
    ],
    [
      "is a management key with inference among its permissions",
      { kind: "management", permissions: ["presets:read", "presets:write", "inference"] },
      false,
    ],
  ])("is checked when it %s", (_name, parts, isAllowed) => {
    const check = () => {
      checkKeyCreation({ ...creation, ...parts }, now);
      checkExpiry(parts.expiresAt, now);
    };
    if (isAllowed) check();
    else expect(check).toThrow(expect.objectContaining({ kind: "invalid_argument" }));
  });
});

describe("the seed of a secret", () => {
  const seedOf = (different: number) => Uint8Array.from({ length: 32 }, (_, index) => index % different);
  const check = (secretSeed: Uint8Array) => checkKeyRotation({ key: "k", graceSeconds: 0, requestId: "a", secretSeed });

  it("must have at least 16 different bytes", () => {
    check(seedOf(16));
    expect(() => check(seedOf(15))).toThrow(expect.objectContaining({ kind: "invalid_argument" }));
  });
});

describe("the digest of a creation", () => {
  it("covers all requested fields, but not the request id", () => {
    const digest = creationDigest(creation);
    expect(creationDigest({ ...creation, requestId: "b" })).toEqual(digest);
    const others: Partial<KeyCreation>[] = [
      { name: "CD" },
      { kind: "management" },
      { workspace: "w" },
      { creatorUserId: "u" },
      { expiresAt: soon },
      { permissions: ["inference"] },
    ];
    for (const other of others) expect(creationDigest({ ...creation, ...other })).not.toEqual(digest);
  });

  it("is the same in every release, because a retry may reach another one", () => {
    const text =
      '["create",{"name":"CI","kind":"api","workspace":"","creatorUserId":"","expiresAt":"2026-01-01T00:00:00.000Z","permissions":[]}]';
    const { name, ...others } = { ...creation, expiresAt: new Date("2026-01-01T00:00:00.000Z") };
    expect(creationDigest({ ...others, name })).toEqual(createHash("sha256").update(text).digest());
  });
});

describe("the digest of a rotation", () => {
  it("covers the key and the grace period, but not the request id", () => {
    const rotation = { key: "k", graceSeconds: 0, requestId: "a" };
    const digest = rotationDigest(rotation);
    expect(rotationDigest({ ...rotation, requestId: "b" })).toEqual(digest);
    for (const other of [{ key: "l" }, { graceSeconds: 1 }]) {
      expect(rotationDigest({ ...rotation, ...other })).not.toEqual(digest);
    }
  });

  it("is the same in every release, too", () => {
    const rotation = { requestId: "a", graceSeconds: 60, key: "k" };
    const text = '["rotate",{"key":"k","graceSeconds":60}]';
    expect(rotationDigest(rotation)).toEqual(createHash("sha256").update(text).digest());
  });
});
