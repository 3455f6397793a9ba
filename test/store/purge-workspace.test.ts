import { afterAll, beforeAll, expect, it } from "vitest";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { purgeWorkspaceCommand } from "../../services/preset/commands/purge-workspace.ts";
import { openOrganizations, type TestOrganizations } from "../support/administration.ts";
import { isSharded } from "../support/database.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { openTestStore, type TestStore, upTo } from "../support/preset-store.ts";
import type { Tenant } from "../support/tenants.ts";

let store: TestStore;
let organizations: TestOrganizations;
let tenant: Tenant;

beforeAll(async () => {
  [store, organizations] = await Promise.all([openTestStore(), openOrganizations()]);
  tenant = await organizations.tenants.createOrganization();
});

afterAll(async () => {
  await organizations.close();
  await store.close();
});

/** The command, for an organization service that listens at the port. */
const purge = (port = organizations.grpcPort) =>
  purgeWorkspaceCommand(() => ({ target: `127.0.0.1:${port}`, tls: undefined }));

async function deletedWorkspace(): Promise<string> {
  const id = await organizations.tenants.createWorkspace(tenant);
  await organizations.tenants.deleteWorkspace(id);
  return id;
}

/** How many rows of the workspace each table has, whichever tables there are. */
async function rowsOf(workspaceId: string): Promise<Record<string, number>> {
  const [found] = await store.pool.execute<RowDataPacket[]>(
    `SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema = DATABASE() AND table_name <> 'schema_migrations' ORDER BY name`,
  );
  const counts = found.map(async ({ name }) => {
    const [rows] = await store.pool.execute<RowDataPacket[]>(
      `SELECT COUNT(*) AS count FROM ${name} WHERE workspace_id = ?`,
      [idToBytes(workspaceId)],
    );
    return [name, Number(rows[0]?.count)] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

/** The tables that have rows of the workspace. */
async function tablesOf(workspaceId: string): Promise<string[]> {
  return Object.entries(await rowsOf(workspaceId)).flatMap(([table, count]) => (count > 0 ? table : []));
}

/** Writes rows to every table. */
async function fill(workspaceId: string): Promise<void> {
  await Promise.all(upTo(510).map((n) => store.create(workspaceId, `preset-${n}`)));
  await store.create(workspaceId, "preset-1");
  await store.update(workspaceId, "preset-1", { name: "One" });
  await store.pool.execute("INSERT INTO preset_change_marks VALUES (?, '', '', 1, NOW(3))", [idToBytes(workspaceId)]);
}

it("deletes everything of one workspace only, and does nothing when repeated", async () => {
  const [purged, other] = [await deletedWorkspace(), newId()];
  await fill(purged);
  await fill(other);
  const before = await rowsOf(other);
  expect(before).toMatchObject({ presets: 510, preset_versions: 511, preset_changes: 512, preset_updates: 1 });
  expect(await tablesOf(other), "tables that are filled").toEqual(Object.keys(before));
  const run = () => purge().read(["--workspace", purged.toUpperCase()])(store.pool);
  expect(await run()).toBe(`Deleted 510 presets with 511 versions of the workspace ${purged}.`);
  expect(await tablesOf(purged)).toEqual([]);
  expect(await rowsOf(other)).toEqual(before);
  expect(await run()).toBe(`The workspace ${purged} has no presets.`);
});

it("continues if another cluster node deletes the same or is lost", async () => {
  const workspaceId = await deletedWorkspace();
  await store.create(workspaceId, "only");
  const proxy = await openDatabaseProxy(store.url);
  const pool = openPool(proxy.url, 1);
  try {
    for (const errno of [1213, 1047]) {
      proxy.fail(isSharded ? "query" : "execute", errno, 1);
      await purge().read(["--workspace", workspaceId])(pool);
    }
    expect(await tablesOf(workspaceId)).toEqual([]);
  } finally {
    await pool.end();
    await proxy.close();
  }
});

it("deletes nothing of a workspace that is not known to be deleted", async () => {
  const [used, unknown, deleted] = [tenant.workspaceId, newId(), await deletedWorkspace()];
  for (const workspaceId of [used, unknown, deleted]) await store.create(workspaceId, "only");
  const run = (workspaceId: string, port?: number) => purge(port).read(["--workspace", workspaceId])(store.pool);
  await expect(run(used)).rejects.toThrow(`The workspace ${used} was not deleted`);
  await expect(run(unknown)).rejects.toThrow(/nothing is deleted.*No organization has, or had, a workspace/);
  await expect(run(deleted, 1)).rejects.toThrow(/ORGANIZATION_GRPC_TARGET 127\.0\.0\.1:1.*nothing is deleted: /);
  for (const workspaceId of [used, unknown, deleted]) expect(await tablesOf(workspaceId)).toContain("presets");
});

it("requires a workspace id", () => {
  expect(() => purge().read(["--workspace", "all"])).toThrow(/--workspace/);
  expect(() => purge().read([])).toThrow(/--workspace/);
});
