import { describe, expect, it } from "vitest";
import { isKey } from "../../platform/auth/key-format.ts";
import { getPrincipal, hashKey, type KeyScope, keyStatus, newApiKey, newManagementKey } from "./keys.ts";

const now = new Date("2026-01-01T00:00:00.500Z");
const owner = { name: "Key", organizationId: "o", creatorUserId: "user_1", expiresAt: undefined };
const api = newApiKey(owner, { workspaceId: "w", permissions: ["presets:read"] });
const management = newManagementKey(owner);

describe("a new key", () => {
  it("has a well-formed secret, and is stored as its hash", () => {
    expect(isKey(api.secret)).toBe(true);
    expect(api.key.hash).toBe(hashKey(api.secret).toString("hex"));
    expect(JSON.stringify(api.key)).not.toContain(api.secret);
  });

  it("is unique", () => {
    expect(management.secret).not.toBe(api.secret);
    expect(management.key.id).not.toBe(api.key.id);
  });
});

describe("the status of a key", () => {
  const unlimited = { disabled: false, expiresAt: undefined, revokedAt: undefined };
  it.each([
    ["active", unlimited],
    ["active", { ...unlimited, expiresAt: new Date("2026-01-01T00:00:01.000Z") }],
    ["active", { ...unlimited, expiresAt: new Date("2026-01-01T00:00:00.501Z") }],
    ["expired", { ...unlimited, expiresAt: new Date("2026-01-01T00:00:00.500Z") }],
    ["expired", { ...unlimited, expiresAt: new Date("2025-12-31T00:00:00.000Z") }],
    ["disabled", { ...unlimited, disabled: true }],
    ["revoked", { ...unlimited, disabled: true, revokedAt: now }],
  ])("is %s for %j", (status, key) => {
    expect(keyStatus(key, now)).toBe(status);
  });
});

describe("the principal of a key", () => {
  const scope = (kind: "api" | "management", parts: Partial<KeyScope> = {}): KeyScope => ({
    key: (kind === "api" ? api : management).key,
    organizationId: "o",
    workspaceId: "w",
    secretExpiresAt: undefined,
    ...parts,
  });

  it("has the permissions of an API key, and all but inference for a management key", () => {
    expect(getPrincipal(scope("api"), undefined, now).permissions).toEqual(["presets:read"]);
    expect(getPrincipal(scope("management"), undefined, now).permissions).toEqual(["presets:read", "presets:write"]);
  });

  it("omits a deleted workspace and organization", () => {
    const principal = getPrincipal(scope("api", { organizationId: undefined, workspaceId: undefined }), undefined, now);
    expect(principal).toMatchObject({ organizationId: undefined, workspaceId: undefined });
  });

  it.each([
    ["a missing key", undefined, undefined, "KEY_INVALID"],
    ["an inactive key", { ...scope("api"), key: { ...api.key, disabled: true } }, "x", "KEY_INVALID"],
    ["another workspace than the key's", scope("api"), "x", "WORKSPACE_NOT_FOUND"],
    ["a deleted workspace", scope("api", { workspaceId: undefined }), "w", "WORKSPACE_NOT_FOUND"],
  ])("is rejected for %s", (_name, found, workspaceId, reason) => {
    expect(() => getPrincipal(found, workspaceId, now)).toThrow(expect.objectContaining({ reason }));
  });
});
