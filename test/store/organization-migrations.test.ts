import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { organizationMigrations } from "../../services/organization/app.ts";
import { listKeys } from "../../services/organization/store/list-keys.ts";
import { listMembers } from "../../services/organization/store/members.ts";
import { findWorkspace, listWorkspaces } from "../../services/organization/store/workspaces.ts";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { migrate } from "../../services/platform/mysql/migrate.ts";
import { openPool, type Pool } from "../../services/platform/mysql/pool.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { migrateUpTo } from "../support/migrate-up-to.ts";

/** The last migration of the release before administration by API. */
const before = "0005";
const [organizationId, otherId] = [newId(), newId()];
const now = new Date();

let database: TestDatabase;
let pool: Pool;

/** A database as left by the previous release, migrated twice, as after a crash. */
beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool(database.url, 2);
  await migrateUpTo(before, database.url, organizationMigrations);

  await insertOrganization(organizationId);
  await insertOrganization(otherId);
  for (const [index, name] of names.entries()) await insertWorkspace(organizationId, name, new Date(index));
  await insertWorkspace(otherId, "Default", now);
  const deleted = await insertWorkspace(organizationId, "Default", new Date(0));
  await pool.execute("UPDATE workspaces SET deleted_at = ? WHERE id = ?", [now, idToBytes(deleted)]);
  for (const [kind, permissions] of keys) await insertKey(kind, permissions);
  await pool.execute(
    "INSERT INTO users (id, email, email_key, first_name, last_name, created_at) VALUES ('user_1', 'a@b', 'a@b', 'Ada', NULL, ?)",
    [now],
  );
  await pool.execute(
    "INSERT INTO memberships (organization_id, created_at, user_id, role) VALUES (?, ?, 'user_1', 'org:admin')",
    [idToBytes(organizationId), now],
  );

  await migrate(database.url, organizationMigrations, () => {});
  await pool.query("DELETE FROM schema_migrations");
  await migrate(database.url, organizationMigrations, () => {});
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

const names = [
  "Default",
  "default",
  "  My  Team (EU)! ",
  "Größe",
  "日本",
  "-",
  "x".repeat(255),
  `${"y".repeat(49)} z`,
  "0190a000-0000-7000-8000-00000000000a",
];

const keys = [
  ["api", "presets:read,presets:write"],
  ["api", "presets:read"],
  ["api", "presets:write"],
  ["management", ""],
] as const;

async function insertOrganization(id: string): Promise<void> {
  await pool.execute(
    "INSERT INTO organizations (id, name, default_workspace_id, member_count, created_at) VALUES (?, ?, ?, 1, ?)",
    [idToBytes(id), id, idToBytes(newId()), now],
  );
}

/** As the previous release does it. */
async function insertWorkspace(organization: string, name: string, createdAt: Date): Promise<string> {
  const id = newId();
  await pool.execute("INSERT INTO workspaces (id, organization_id, name, created_at) VALUES (?, ?, ?, ?)", [
    idToBytes(id),
    idToBytes(organization),
    name,
    createdAt,
  ]);
  return id;
}

async function insertKey(kind: string, permissions: string): Promise<void> {
  await pool.execute(
    `INSERT INTO api_keys (id, key_hash, name, kind, permissions, organization_id, workspace_id, creator_user_id, disabled,
      created_at, expires_at, revoked_at, last_used_at) VALUES (?, ?, 'Old', ?, ?, ?, NULL, 'user_1', FALSE, ?, NULL, NULL, NULL)`,
    [
      idToBytes(newId()),
      Buffer.from(newId().padEnd(64, "0")).subarray(4, 36),
      kind,
      permissions,
      idToBytes(organizationId),
      now,
    ],
  );
}

describe("the organization migrations", () => {
  it("give each workspace a slug from its name, or else from its id", async () => {
    const workspaces = await listWorkspaces(pool, organizationId);
    const fromId = (index: number) => `workspace-${workspaces[index]?.id.replaceAll("-", "")}`;
    expect(workspaces.map(({ name }) => name)).toEqual(names);
    expect(workspaces.map(({ slug }) => slug)).toEqual([
      "default",
      fromId(1),
      "my-team-eu",
      "gr-e",
      fromId(4),
      fromId(5),
      "x".repeat(50),
      "y".repeat(49),
      fromId(8),
    ]);
    expect((await listWorkspaces(pool, otherId)).map(({ slug }) => slug)).toEqual(["default"]);
    for (const { id, slug } of workspaces) expect((await findWorkspace(pool, organizationId, slug))?.id).toBe(id);
  });

  it("let the previous release create workspaces, which get a slug as well", async () => {
    const id = await insertWorkspace(organizationId, "Default", now);
    const slug = `workspace-${id.replaceAll("-", "")}`;
    expect(await findWorkspace(pool, organizationId, slug)).toMatchObject({ id, name: "Default" });
  });

  it("grant inference to keys that had all permissions", async () => {
    const stored = await listKeys(pool, organizationId);
    expect(stored.map(({ permissions }) => permissions.join()).sort()).toEqual([
      "",
      "presets:read",
      "presets:read,presets:write,inference",
      "presets:write",
    ]);
    expect(stored[0]).toMatchObject({ label: "sk-sp-v1-…", updatedAt: undefined, previousExpiresAt: undefined });
  });

  it("keep members' names and addresses", async () => {
    const page = await listMembers(pool, organizationId, { offset: 0, limit: 10 });
    expect(page?.members).toMatchObject([{ userId: "user_1", email: "a@b", firstName: "Ada", lastName: undefined }]);
    const [rows] = await pool.query("SELECT email FROM memberships");
    expect(rows).toEqual([{ email: "a@b" }]);
  });
});
