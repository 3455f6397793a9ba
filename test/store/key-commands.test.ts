import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../../services/organization/commands/create-key.ts";
import { createWorkspace } from "../../services/organization/commands/create-workspace.ts";
import { disableKey } from "../../services/organization/commands/disable-key.ts";
import { enableKey } from "../../services/organization/commands/enable-key.ts";
import { listKeys } from "../../services/organization/commands/list-keys.ts";
import { revokeKey } from "../../services/organization/commands/revoke-key.ts";
import { hashKey } from "../../services/organization/domain/keys.ts";
import { findKeyScope } from "../../services/organization/store/key-scopes.ts";
import { listKeys as listStoredKeys } from "../../services/organization/store/list-keys.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { CommandError } from "../../services/platform/process/command-error.ts";
import { freshName } from "../support/fresh-name.ts";
import { type Bootstrapped, openCommands, rowsOf, type TestCommands } from "../support/organization-commands.ts";

const own = ["--organization", "Keys", "--name", "CI"];
let commands: TestCommands;
let made: Bootstrapped;

beforeAll(async () => {
  commands = await openCommands();
  made = await commands.makeOrganization("Keys");
});

afterAll(() => commands.close());

const scopeOf = (secret: string | undefined) =>
  findKeyScope(commands.pool, { hash: hashKey(secret ?? ""), workspaceId: undefined });

async function newKey(...parameters: string[]): Promise<{ readonly key: string; readonly key_id: string }> {
  return JSON.parse(await commands.run(createKey, ...own, ...parameters, "--json"));
}

describe("create-key", () => {
  it("creates an API key for the default workspace, with all permissions by default", async () => {
    const { key, key_id: id } = await newKey("--kind", "api");
    expect(await scopeOf(key)).toMatchObject({
      workspaceId: made.workspace_id,
      key: {
        id,
        name: "CI",
        permissions: ["presets:read", "presets:write", "inference"],
        creatorUserId: made.admin_user_id,
      },
    });
  });

  it("creates an expiring read-only key for another workspace", async () => {
    const name = freshName("Second");
    const workspace = ["--organization", "Keys", "--name", name];
    const { workspace_id: workspaceId } = JSON.parse(await commands.run(createWorkspace, ...workspace, "--json"));
    const limits = ["--permissions", "presets:read", "--expires-at", "2999-01-01T00:00:00Z"];
    const printed = await commands.run(createKey, ...own, "--kind", "api", ...limits, "--workspace", workspaceId);
    expect(await scopeOf(printed.split("\n")[0])).toMatchObject({
      workspaceId,
      key: { permissions: ["presets:read"], expiresAt: new Date("2999-01-01T00:00:00Z") },
    });
  });

  it("sets a rate limit, with a burst of one second by default", async () => {
    const limited = await newKey("--kind", "api", "--rate-limit", "50");
    expect(await scopeOf(limited.key)).toMatchObject({ key: { rateLimit: { perSecond: 50, burst: 50 } } });
    const bursting = await newKey("--kind", "management", "--rate-limit", "50", "--rate-burst", "200");
    expect(await scopeOf(bursting.key)).toMatchObject({ key: { rateLimit: { perSecond: 50, burst: 200 } } });
    const rows = rowsOf(await commands.run(listKeys, "--organization", "Keys"));
    expect(rows.find(({ id }) => id === bursting.key_id)?.rate_limit).toBe("50/s, burst 200");
    expect((await scopeOf((await newKey("--kind", "api")).key))?.key.rateLimit).toBeUndefined();
  });

  it("creates a management key", async () => {
    const { key } = await newKey("--kind", "management");
    expect(await scopeOf(key)).toMatchObject({ key: { kind: "management", workspaceId: undefined } });
  });

  it.each([
    ["an unknown organization", ["--organization", "Nowhere", "--name", "x", "--kind", "api"], "no organization"],
    ["an unknown workspace", [...own, "--kind", "api", "--workspace", newId()], "must name a workspace"],
    ["an unknown permission", [...own, "--kind", "api", "--permissions", "all"], "--permissions must be"],
    ["an unknown kind", [...own, "--kind", "root"], "--kind must be one of"],
    [
      "a management key for one workspace",
      [...own, "--kind", "management", "--workspace", newId()],
      "leave out --workspace",
    ],
    ["a read-only management key", [...own, "--kind", "management", "--permissions", "presets:read"], "leave out"],
    ["a rate limit of zero", [...own, "--kind", "api", "--rate-limit", "0"], "--rate-limit must be"],
    ["a burst without a rate limit", [...own, "--kind", "api", "--rate-burst", "5"], "give both"],
    ["a time in the past", [...own, "--kind", "api", "--expires-at", "2020-01-01T00:00:00Z"], "--expires-at must be"],
  ])("rejects %s", async (_name, parameters, message) => {
    const before = await listStoredKeys(commands.pool, made.organization_id);
    const refused = commands.run(createKey, ...parameters);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow(CommandError);
    expect(await listStoredKeys(commands.pool, made.organization_id)).toEqual(before);
  });

  it("rejects an API key, but not a management key, if the default workspace was deleted", async () => {
    const name = freshName("Homeless");
    const { workspace_id: id } = await commands.makeOrganization(name);
    await commands.pool.execute("UPDATE workspaces SET deleted_at = ? WHERE id = ?", [new Date(), idToBytes(id)]);
    const refused = commands.run(createKey, "--organization", name, "--name", "x", "--kind", "api");
    await expect(refused).rejects.toThrow("workspace_id must name a workspace of the organization");
    await commands.run(createKey, "--organization", name, "--name", "x", "--kind", "management");
  });
});

describe("list-keys", () => {
  it("lists keys with their permissions and no secrets", async () => {
    const name = freshName("Listed");
    const { api_key: secret } = await commands.makeOrganization(name);
    const printed = await commands.run(listKeys, "--organization", name);
    expect(rowsOf(printed)).toMatchObject([
      { name: "First API key", kind: "api", status: "active", permissions: "presets:read,presets:write,inference" },
      {
        name: "First management key",
        kind: "management",
        status: "active",
        permissions: "presets:read,presets:write",
        workspace: "all",
      },
    ]);
    expect(printed).not.toContain(secret);
  });
});

describe("disable-key, enable-key and revoke-key", () => {
  async function statusOf(id: string): Promise<string | undefined> {
    return rowsOf(await commands.run(listKeys, "--organization", "Keys")).find((row) => row.id === id)?.status;
  }

  it("blocks a key until it is enabled again, and repeating a command is no error", async () => {
    const { key, key_id: id } = await newKey("--kind", "api");
    for (const [command, status, told] of [
      [disableKey, "disabled", `The key ${id} ("CI") is disabled; access tokens`],
      [disableKey, "disabled", `The key ${id} ("CI") is disabled; access tokens`],
      [enableKey, "active", `The key ${id} ("CI") is enabled`],
      [enableKey, "active", `The key ${id} ("CI") is enabled`],
    ] as const) {
      expect(await commands.run(command, "--key-id", id)).toContain(told);
      expect(await statusOf(id)).toBe(status);
      expect((await scopeOf(key))?.key.disabled).toBe(status === "disabled");
    }
  });

  it("revokes a key, and says so again if repeated", async () => {
    const { key, key_id: id } = await newKey("--kind", "api");
    const first = await commands.run(revokeKey, "--key-id", id);
    expect(first).toContain("is revoked since");
    expect(await commands.run(revokeKey, "--key-id", id)).toBe(first);
    expect((await scopeOf(key))?.key.revokedAt).toBeInstanceOf(Date);
    expect(await statusOf(id)).toBe("revoked");
  });

  it.each([
    ["revoked", /is revoked; make another one with create-key/],
    [
      "expired",
      /is expired; give it another expiry \(PATCH \/api\/v1\/keys\/[\w-]+\), or make another one with create-key/,
    ],
  ])("does not reactivate a key that is %s, and says what helps", async (status, message) => {
    const { key, key_id: id } = await newKey("--kind", "management");
    expect(await commands.run(disableKey, "--key-id", id)).toContain("is disabled");
    const column = status === "revoked" ? "revoked_at" : "expires_at";
    await commands.pool.execute(`UPDATE api_keys SET ${column} = ? WHERE id = ?`, [new Date(0), idToBytes(id)]);
    const refused = commands.run(enableKey, "--key-id", id);
    await expect(refused).rejects.toThrow(CommandError);
    await expect(refused).rejects.toThrow(message);
    expect((await scopeOf(key))?.key.disabled).toBe(true);
    expect(await commands.run(disableKey, "--key-id", id)).toContain(`is ${status}; access tokens`);
  });

  it.each([
    ["disable-key", disableKey],
    ["enable-key", enableKey],
    ["revoke-key", revokeKey],
  ])("%s rejects an unknown key", async (_name, command) => {
    const refused = commands.run(command, "--key-id", newId());
    await expect(refused).rejects.toThrow(CommandError);
    await expect(refused).rejects.toThrow(/^There is no key \S+; list-keys shows/);
  });
});
