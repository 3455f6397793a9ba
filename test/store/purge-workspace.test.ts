import { afterAll, beforeAll, expect, it } from "vitest";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { purgeWorkspace } from "../../services/preset/commands/purge-workspace.ts";
import { isSharded } from "../support/database.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { openTestStore, type TestStore, upTo } from "../support/preset-store.ts";

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(() => store.close());

const tables = [
  "presets",
  "preset_versions",
  "preset_changes",
  "preset_updates",
  "preset_counts",
  "preset_change_marks",
];

async function rowsOf(workspaceId: string): Promise<number[]> {
  return Promise.all(
    tables.map(async (table) => {
      const [rows] = await store.pool.execute<RowDataPacket[]>(
        `SELECT COUNT(*) AS count FROM ${table} WHERE workspace_id = ?`,
        [idToBytes(workspaceId)],
      );
      return Number(rows[0]?.count);
    }),
  );
}

async function fill(workspaceId: string): Promise<void> {
  await Promise.all(upTo(510).map((n) => store.create(workspaceId, `preset-${n}`)));
  await store.create(workspaceId, "preset-1");
  await store.update(workspaceId, "preset-1", { name: "One" });
  await store.pool.execute("INSERT INTO preset_change_marks VALUES (?, '', '', 1, NOW(3))", [idToBytes(workspaceId)]);
}

it("deletes all that is kept of a workspace, and nothing of another; again, it has nothing to do", async () => {
  const [purged, other] = [newId(), newId()];
  await fill(purged);
  await fill(other);
  const before = await rowsOf(other);
  const run = () => purgeWorkspace.read(["--workspace", purged.toUpperCase()])(store.pool);
  expect(await run()).toBe(`Deleted 510 presets with 511 versions of the workspace ${purged}.`);
  expect(await rowsOf(purged)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(await rowsOf(other)).toEqual(before);
  expect(before.slice(0, 4)).toEqual([510, 511, 512, 1]);
  expect(await run()).toBe(`The workspace ${purged} has no presets.`);
});

it("goes on where another node of a cluster deletes the same, or is lost", async () => {
  const workspaceId = newId();
  await store.create(workspaceId, "only");
  const proxy = await openDatabaseProxy(store.url);
  const pool = openPool(proxy.url, 1);
  try {
    for (const errno of [1213, 1047]) {
      proxy.fail(isSharded ? "query" : "execute", errno, 1);
      await purgeWorkspace.read(["--workspace", workspaceId])(pool);
    }
    expect(await rowsOf(workspaceId)).toEqual([0, 0, 0, 0, 0, 0]);
  } finally {
    await pool.end();
    await proxy.close();
  }
});

it("wants the id of a workspace", () => {
  expect(() => purgeWorkspace.read(["--workspace", "all"])).toThrow(/--workspace/);
  expect(() => purgeWorkspace.read([])).toThrow(/--workspace/);
});
