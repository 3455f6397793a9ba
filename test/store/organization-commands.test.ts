import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { organizationMigrations } from "../../services/organization/app.ts";
import { addMember } from "../../services/organization/commands/add-member.ts";
import { bootstrap } from "../../services/organization/commands/bootstrap.ts";
import { createKey } from "../../services/organization/commands/create-key.ts";
import { listKeys } from "../../services/organization/commands/list-keys.ts";
import { revokeKey } from "../../services/organization/commands/revoke-key.ts";
import { hashKey } from "../../services/organization/domain/keys.ts";
import { findKeyReach } from "../../services/organization/store/keys.ts";
import { listMembers } from "../../services/organization/store/members.ts";
import { insertWorkspace } from "../../services/organization/store/organizations.ts";
import { idToBytes, newId } from "../../services/platform/ids.ts";
import { isKey } from "../../services/platform/key-format.ts";
import { CommandError } from "../../services/platform/lifecycle.ts";
import { migrate } from "../../services/platform/mysql/migrate.ts";
import { openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url, organizationMigrations, () => {});
  pool = openPool(database.url, 4);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

type Command = (pool: Pool, parameters: string[], print: (text: string) => void) => Promise<void>;

async function run(command: Command, ...parameters: string[]): Promise<string> {
  const lines: string[] = [];
  await command(pool, parameters, (text) => lines.push(text));
  return lines.join("\n");
}

async function makeOrganization(name: string, adminEmail = "ada@example.com") {
  const printed = await run(bootstrap, "--organization", name, "--admin-email", adminEmail, "--json");
  return JSON.parse(printed) as Record<string, string>;
}

async function count(table: string): Promise<number> {
  const [rows] = await pool.query<RowDataPacket[]>(`SELECT COUNT(*) AS total FROM ${table}`);
  return rows[0]?.total;
}

const reachOf = (secret: string | undefined) => findKeyReach(pool, hashKey(secret ?? ""), undefined);

describe("bootstrap", () => {
  it("makes an organization, its default workspace, an admin and two keys that work", async () => {
    const made = await makeOrganization("Bootstrapped");
    expect(Object.keys(made)).toEqual([
      "organization_id",
      "workspace_id",
      "admin_user_id",
      "api_key",
      "management_key",
    ]);
    const { organization_id: organizationId, workspace_id: workspaceId } = made;
    expect(isKey(made.api_key ?? "")).toBe(true);
    expect(await reachOf(made.api_key)).toMatchObject({
      organizationId,
      workspaceId,
      key: { kind: "api", permissions: ["presets:read", "presets:write"], creatorUserId: made.admin_user_id },
    });
    expect(await reachOf(made.management_key)).toMatchObject({
      organizationId,
      workspaceId,
      key: { kind: "management", creatorUserId: made.admin_user_id },
    });
    expect(await listMembers(pool, organizationId ?? "", { offset: 0, limit: 10 })).toMatchObject({
      totalCount: 1,
      members: [{ userId: made.admin_user_id, email: "ada@example.com", role: "org:admin" }],
    });
  });

  it("prints the keys for people, too", async () => {
    const printed = await run(bootstrap, "--organization", "Readable", "--admin-email", "ada@example.com");
    expect(printed).toMatch(/API key +sk-sp-v1-/);
    expect(printed).toMatch(/management key +sk-sp-v1-/);
  });

  it("takes an address that belongs to a user already for the same user", async () => {
    const first = await makeOrganization("First of Grace", "grace@example.com");
    const second = await makeOrganization("Second of Grace", "GRACE@example.com");
    expect(second.admin_user_id).toBe(first.admin_user_id);
  });

  it("refuses a name that is taken, and leaves nothing behind", async () => {
    await makeOrganization("Taken");
    const before = await Promise.all(["users", "workspaces", "memberships", "api_keys"].map(count));
    await expect(makeOrganization("Taken", "other@example.com")).rejects.toThrow(CommandError);
    await expect(makeOrganization("Taken", "other@example.com")).rejects.toThrow('"Taken" is taken');
    expect(await Promise.all(["users", "workspaces", "memberships", "api_keys"].map(count))).toEqual(before);
  });

  it("makes one organization where many race for its name", async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => makeOrganization("Raced for")));
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused).toHaveLength(7);
    for (const { reason } of refused) expect(reason).toBeInstanceOf(CommandError);
  });
});

describe("add-member", () => {
  it("makes the user and the membership", async () => {
    const { organization_id: organizationId = "" } = await makeOrganization("With members");
    const names = ["--first-name", "Alan", "--last-name", "Turing"];
    const printed = await run(addMember, "--organization", "With members", "--email", "alan@example.com", ...names);
    await run(addMember, "--organization", "With members", "--email", "b@example.com", "--role", "org:admin");
    expect(printed).toMatch(/^alan@example\.com \(user_[A-Za-z0-9]{27}\) is now org:member of "With members"$/);
    expect(await listMembers(pool, organizationId, { offset: 1, limit: 10 })).toMatchObject({
      totalCount: 3,
      members: [
        { email: "alan@example.com", firstName: "Alan", lastName: "Turing", role: "org:member" },
        { email: "b@example.com", firstName: undefined, lastName: undefined, role: "org:admin" },
      ],
    });
  });

  it.each([
    ["a member again", ["--organization", "Refusing", "--email", "ADA@example.com"], "is a member"],
    [
      "an unknown organization",
      ["--organization", "Nowhere", "--email", "ada@example.com"],
      'no organization "Nowhere"',
    ],
    ["an unknown role", ["--organization", "Refusing", "--email", "a@b", "--role", "boss"], "--role must be one of"],
    ["a bad address", ["--organization", "Refusing", "--email", "ada"], "--email must be"],
  ])("refuses %s", async (_name, parameters, message) => {
    await makeOrganization("Refusing").catch(() => {});
    await expect(run(addMember, ...parameters)).rejects.toThrow(message);
    await expect(run(addMember, ...parameters)).rejects.toThrow(CommandError);
  });
});

describe("create-key, list-keys and revoke-key", () => {
  const own = ["--organization", "Keys", "--name", "CI"];
  let made: Record<string, string>;

  beforeAll(async () => {
    made = await makeOrganization("Keys");
  });

  it("makes an API key for the default workspace, with all permissions unless told", async () => {
    const { key, key_id: id } = JSON.parse(await run(createKey, ...own, "--kind", "api", "--json"));
    expect(await reachOf(key)).toMatchObject({
      workspaceId: made.workspace_id,
      key: { id, name: "CI", permissions: ["presets:read", "presets:write"], creatorUserId: made.admin_user_id },
    });
  });

  it("makes a read-only key of another workspace that expires", async () => {
    const workspaceId = newId();
    await insertWorkspace(
      pool,
      { id: workspaceId, organizationId: made.organization_id ?? "", name: "Second" },
      new Date(),
    );
    const limits = [
      "--permissions",
      "presets:read",
      "--expires-at",
      "2999-01-01T00:00:00Z",
      "--workspace",
      workspaceId,
    ];
    const printed = await run(createKey, ...own, "--kind", "api", ...limits);
    expect(await reachOf(printed.split("\n")[0])).toMatchObject({
      workspaceId,
      key: { permissions: ["presets:read"], expiresAt: new Date("2999-01-01T00:00:00Z") },
    });
  });

  it("makes a management key", async () => {
    const { key } = JSON.parse(await run(createKey, ...own, "--kind", "management", "--json"));
    expect(await reachOf(key)).toMatchObject({ key: { kind: "management", workspaceId: undefined } });
  });

  it.each([
    ["an unknown organization", ["--organization", "Nowhere", "--name", "x", "--kind", "api"], "no organization"],
    ["an unknown workspace", [...own, "--kind", "api", "--workspace", newId()], "has no workspace"],
    ["an unknown permission", [...own, "--kind", "api", "--permissions", "all"], "--permissions must be"],
    ["an unknown kind", [...own, "--kind", "root"], "--kind must be one of"],
    [
      "a management key of one workspace",
      [...own, "--kind", "management", "--workspace", newId()],
      "leave out --workspace",
    ],
    [
      "a management key that may only read",
      [...own, "--kind", "management", "--permissions", "presets:read"],
      "leave out",
    ],
    [
      "a time that has passed",
      [...own, "--kind", "api", "--expires-at", "2020-01-01T00:00:00Z"],
      "--expires-at must be",
    ],
  ])("refuses %s", async (_name, parameters, message) => {
    const before = await count("api_keys");
    await expect(run(createKey, ...parameters)).rejects.toThrow(message);
    await expect(run(createKey, ...parameters)).rejects.toThrow(CommandError);
    expect(await count("api_keys")).toBe(before);
  });

  it("refuses an API key where the default workspace was deleted", async () => {
    const { workspace_id: id = "" } = await makeOrganization("Homeless");
    await pool.execute("UPDATE workspaces SET deleted_at = ? WHERE id = ?", [new Date(), idToBytes(id)]);
    await expect(run(createKey, "--organization", "Homeless", "--name", "x", "--kind", "api")).rejects.toThrow(
      `has no workspace ${id}`,
    );
  });

  it("lists keys with what they may do, and no secret", async () => {
    const { api_key: secret } = await makeOrganization("Listed");
    const [header, ...lines] = (await run(listKeys, "--organization", "Listed")).split("\n");
    expect(header?.split("\t").slice(0, 5)).toEqual(["id", "name", "kind", "status", "permissions"]);
    expect(lines.map((line) => line.split("\t").slice(1, 5))).toEqual([
      ["First API key", "api", "active", "presets:read,presets:write"],
      ["First management key", "management", "active", "all"],
    ]);
    expect(lines.join()).not.toContain(secret);
  });

  it("revokes a key, and says so again when asked again", async () => {
    const { key, key_id: id } = JSON.parse(await run(createKey, ...own, "--kind", "api", "--json"));
    const first = await run(revokeKey, "--key-id", id);
    expect(first).toContain("is revoked since");
    expect(await run(revokeKey, "--key-id", id)).toBe(first);
    expect((await reachOf(key))?.key.revokedAt).toBeInstanceOf(Date);
    expect(await run(listKeys, "--organization", "Keys")).toMatch(new RegExp(`${id}\tCI\tapi\trevoked`));
  });

  it("refuses to revoke a key that is not there", async () => {
    await expect(run(revokeKey, "--key-id", newId())).rejects.toThrow("There is no key");
  });
});

describe("the command line", () => {
  const main = fileURLToPath(new URL("../../services/organization/main.ts", import.meta.url));

  async function runMain(url: string, ...parameters: string[]) {
    const environment = { ...process.env, ORGANIZATION_DATABASE_URL: url };
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [main, ...parameters], { env: environment });
      return { code: 0, stdout, stderr: "" };
    } catch (error) {
      return error as { code: number; stdout: string; stderr: string };
    }
  }

  it("migrates, bootstraps once, and exits 1 with one clear line the second time", async () => {
    const fresh = await createTestDatabase();
    const command = ["bootstrap", "--organization", "Acme", "--admin-email", "ada@example.com", "--json"];
    try {
      expect(await runMain(fresh.url, ...command)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^The database cannot be used: .* run the migrate command\n$/),
      });
      expect((await runMain(fresh.url, "migrate")).stdout).toMatch(/\d migrations applied\n$/);
      expect((await runMain(fresh.url, "migrate")).stdout).toBe("the schema is current\n");
      const first = await runMain(fresh.url, ...command);
      expect(JSON.parse(first.stdout)).toHaveProperty("api_key");
      expect(first.stdout.trim()).not.toContain("\n");
      expect(await runMain(fresh.url, ...command)).toMatchObject({
        code: 1,
        stdout: "",
        stderr: 'The organization name "Acme" is taken; choose another\n',
      });
    } finally {
      await fresh.drop();
    }
  });

  it("says how a command is used", async () => {
    const refused = await runMain(database.url, "revoke-key", "--id", "x");
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toBe("Unknown option '--id'\nUsage: revoke-key --key-id ID (list-keys shows the ids)\n");
  });
});
