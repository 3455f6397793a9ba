import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrap } from "../../services/organization/commands/bootstrap.ts";
import { createWorkspace } from "../../services/organization/commands/create-workspace.ts";
import { listWorkspaces } from "../../services/organization/commands/list-workspaces.ts";
import { hashKey } from "../../services/organization/domain/keys.ts";
import { findKeyScope } from "../../services/organization/store/key-scopes.ts";
import { listMembers } from "../../services/organization/store/members.ts";
import { isKey } from "../../services/platform/auth/key-format.ts";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { CommandError } from "../../services/platform/process/command-error.ts";
import { createTestDatabase } from "../support/database.ts";
import { freshName } from "../support/fresh-name.ts";
import { openCommands, rowsOf, type TestCommands } from "../support/organization-commands.ts";
import { uuidV7 } from "../support/patterns.ts";

let commands: TestCommands;

beforeAll(async () => {
  commands = await openCommands();
});

afterAll(() => commands.close());

async function count(table: string): Promise<number> {
  const [rows] = await commands.pool.query<RowDataPacket[]>(`SELECT COUNT(*) AS total FROM ${table}`);
  return rows[0]?.total;
}

/** Runs the same eight times at once; returns the errors of all but one. */
async function refusalsOf(command: () => Promise<unknown>): Promise<unknown[]> {
  const results = await Promise.allSettled(Array.from({ length: 8 }, command));
  const refused = results.filter((result) => result.status === "rejected").map(({ reason }) => reason);
  expect(refused).toHaveLength(7);
  return refused;
}

describe("bootstrap", () => {
  it("creates an organization, its default workspace, an admin and two working keys", async () => {
    const made = await commands.makeOrganization(freshName("Bootstrapped"));
    expect(Object.keys(made)).toEqual([
      "organization_id",
      "workspace_id",
      "admin_user_id",
      "api_key",
      "management_key",
    ]);
    const { organization_id: organizationId, workspace_id: workspaceId } = made;
    const scopeOf = (secret: string) => findKeyScope(commands.pool, { hash: hashKey(secret), workspaceId: undefined });
    expect(isKey(made.api_key)).toBe(true);
    expect(await scopeOf(made.api_key)).toMatchObject({
      organizationId,
      workspaceId,
      key: {
        kind: "api",
        permissions: ["presets:read", "presets:write", "inference"],
        creatorUserId: made.admin_user_id,
      },
    });
    expect(await scopeOf(made.management_key)).toMatchObject({
      organizationId,
      workspaceId,
      key: { kind: "management", creatorUserId: made.admin_user_id },
    });
    expect(await listMembers(commands.pool, organizationId, { offset: 0, limit: 10 })).toMatchObject({
      totalCount: 1,
      members: [{ userId: made.admin_user_id, email: "ada@example.com", role: "org:admin" }],
    });
  });

  it("prints the keys in readable form", async () => {
    const printed = await commands.run(
      bootstrap,
      "--organization",
      freshName("Readable"),
      "--admin-email",
      "ada@example.com",
    );
    expect(printed).toMatch(/API key +sk-sp-v1-/);
    expect(printed).toMatch(/management key +sk-sp-v1-/);
  });

  it("reuses an existing user for a known address", async () => {
    const first = await commands.makeOrganization(freshName("First of Grace"), "grace@example.com");
    const second = await commands.makeOrganization(freshName("Second of Grace"), "GRACE@example.com");
    expect(second.admin_user_id).toBe(first.admin_user_id);
  });

  it("rejects a taken name, and stores nothing", async () => {
    const name = freshName("Taken");
    await commands.makeOrganization(name);
    const counts = () => Promise.all(["users", "workspaces", "memberships", "api_keys"].map(count));
    const before = await counts();
    const again = commands.makeOrganization(name, "other@example.com");
    await expect(again).rejects.toThrow(new CommandError(`The organization name "${name}" is taken; choose another`));
    expect(await counts()).toEqual(before);
  });

  it("leaves an existing organization unchanged with --if-absent", async () => {
    const name = freshName("Kept");
    await commands.makeOrganization(name);
    const counts = () => Promise.all(["users", "workspaces", "memberships", "api_keys"].map(count));
    const before = await counts();
    const parameters = ["--organization", name, "--admin-email", "other@example.com", "--if-absent", "--json"];
    expect(await commands.run(bootstrap, ...parameters)).toBe(`The organization "${name}" is there already.`);
    expect(await counts()).toEqual(before);
  });

  it("creates one organization if many race for its name", async () => {
    const name = freshName("Raced for");
    for (const refusal of await refusalsOf(() => commands.makeOrganization(name))) {
      expect(refusal).toBeInstanceOf(CommandError);
    }
  });
});

describe("create-workspace and list-workspaces", () => {
  const inAcme = ["--organization", "Acme"];

  beforeAll(async () => {
    await commands.makeOrganization("Acme");
    await commands.makeOrganization("Other");
  });

  it("creates a workspace in one organization, and prints its id as JSON and as text", async () => {
    const name = freshName("Several");
    const inIt = ["--organization", name];
    const { workspace_id: defaultId } = await commands.makeOrganization(name);
    const { workspace_id: second } = JSON.parse(
      await commands.run(createWorkspace, ...inIt, "--name", "Second", "--json"),
    );
    const printed = await commands.run(createWorkspace, ...inIt, "--name", "Third", "--slug", "no-3");
    const third = printed.match(/^The workspace "Third" of "Several-\d+" is ready: (\S+);/)?.[1];
    expect(third).toMatch(uuidV7);
    expect(rowsOf(await commands.run(listWorkspaces, ...inIt))).toEqual([
      { id: defaultId, name: "Default", slug: "default", default: "yes" },
      { id: second, name: "Second", slug: "second", default: "no" },
      { id: third, name: "Third", slug: "no-3", default: "no" },
    ]);
    expect(rowsOf(await commands.run(listWorkspaces, "--organization", "Other"))).toMatchObject([{ name: "Default" }]);
  });

  it.each([
    ["a taken name", [...inAcme, "--name", "Default"], /"Acme" has a workspace "Default" already: \S+; use it/],
    ["an unknown organization", ["--organization", "Nowhere", "--name", "x"], /no organization "Nowhere"/],
    [
      "no name",
      inAcme,
      /--name is required.*\nUsage: create-workspace --organization NAME --name NAME \[--slug SLUG\] \[--as EMAIL\] \[--json\]$/,
    ],
    ["a taken slug", [...inAcme, "--name", "DEFAULT!"], /has the slug default\. Choose another/],
    ["an invalid slug", [...inAcme, "--name", "x", "--slug", "X"], /--slug must be 1 to 50 lower-case/],
  ])("rejects %s", async (_name, parameters, message) => {
    const refused = commands.run(createWorkspace, ...parameters);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow(CommandError);
  });

  it("creates one workspace if many race for its name", async () => {
    const name = freshName("Raced for");
    const refusals = await refusalsOf(() => commands.run(createWorkspace, ...inAcme, "--name", name));
    for (const refusal of refusals) expect(refusal).toBeInstanceOf(CommandError);
  });

  it("omits deleted workspaces", async () => {
    const name = freshName("Homeless");
    const { workspace_id: id } = await commands.makeOrganization(name);
    await commands.pool.execute("UPDATE workspaces SET deleted_at = ? WHERE id = ?", [new Date(), idToBytes(id)]);
    expect(rowsOf(await commands.run(listWorkspaces, "--organization", name))).toEqual([]);
  });
});

describe("the command line", () => {
  const main = fileURLToPath(new URL("../../services/organization/main.ts", import.meta.url));

  async function runMain(url: string, ...parameters: string[]) {
    const environment = { ...process.env, ORGANIZATION_DATABASE_URL: url, MIGRATE_WAIT_SECONDS: "0" };
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [main, ...parameters], { env: environment });
      return { code: 0, stdout, stderr: "" };
    } catch (error) {
      return error as { code: number; stdout: string; stderr: string };
    }
  }

  it("migrates, bootstraps once, and exits with 1 and one clear line the second time", async () => {
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

  it("lists every command if the given one is unknown", async () => {
    const { stderr } = await runMain(commands.url, "nope");
    expect(/Use one of (.*);/.exec(stderr)?.[1]?.split(", ")).toEqual([
      "serve",
      "migrate",
      "bootstrap",
      "create-workspace",
      "list-workspaces",
      "add-member",
      "list-members",
      "remove-member",
      "create-key",
      "list-keys",
      "disable-key",
      "enable-key",
      "revoke-key",
      "create-console-ticket",
    ]);
  });

  it.each([["--help"], ["help"], ["-h"]])("lists the commands for %s", async (flag) => {
    const { code, stdout } = await runMain("", flag);
    expect(code).toBe(0);
    expect(stdout.match(/^ {2}[a-z-]+ {2,}[A-Z].*\.$/gm)).toHaveLength(14);
  });

  it.each([[["create-key", "--help"]], [["help", "create-key"]], [["create-key", "--organization", "Acme", "-h"]]])(
    "shows the flags of a command without a database: %j",
    async (parameters) => {
      const { code, stdout } = await runMain("", ...parameters);
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /^Usage: (npx )?node \S*services\/organization\/main.ts create-key --organization NAME .* \[--json\]$/m,
      );
      for (const flag of ["organization", "name", "kind", "workspace", "permissions", "expires-at", "json"]) {
        expect(stdout).toMatch(new RegExp(`^ {2}--${flag} .*[a-z]{3}`, "m"));
      }
      expect(stdout).toMatch(/^Example: (npx )?node \S+ create-key --organization Demo /m);
    },
  );

  it("accepts help as an ordinary value", async () => {
    expect((await runMain(commands.url, "list-keys", "--organization", "help")).stderr).toContain(
      'There is no organization "help"',
    );
  });

  it.each(["migrate", "list-keys --organization Acme"])("reports an unreachable database: %s", async (command) => {
    const { code, stderr } = await runMain("mysql://root@127.0.0.1:1/nowhere", ...command.split(" "));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^The database cannot be used: connect ECONNREFUSED 127.0.0.1:1\.\nCheck that it runs/,
      ),
    });
    expect(stderr).not.toContain("    at ");
  });

  it("shows the usage of a command", async () => {
    const refused = await runMain(commands.url, "revoke-key", "--id", "x");
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toBe(
      "Unknown option '--id'; did you mean --key-id?\nUsage: revoke-key --key-id ID [--as EMAIL]\n",
    );
  });
});
