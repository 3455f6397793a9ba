import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idFromBytes, idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool, type PoolConnection, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { listWorkspaceChanges } from "../../services/preset/store/list-workspace-changes.ts";
import { PresetLists } from "../../services/preset/store/preset-lists.ts";
import { openTestStore, type TestStore } from "../support/preset-store.ts";
import { rowReads } from "../support/row-reads.ts";

const presets = 100;
const revisions = 700;
const total = presets * revisions;

let store: TestStore;
let lists: PresetLists;
const workspaceId = newId();
const workspace = idToBytes(workspaceId);

/** Seven changes in each second, so that many share their time. */
beforeAll(async () => {
  store = await openTestStore();
  lists = new PresetLists(store.pool, store.pool);
  await store.pool.query("CREATE TABLE numbers (n INT PRIMARY KEY)");
  await store.pool.query("INSERT INTO numbers VALUES ?", [Array.from({ length: revisions }, (_, n) => [n])]);
  const id = "UNHEX(LEFT(SHA2(p.n, 256), 32))";
  await store.pool.query(
    `INSERT INTO presets (workspace_id, slug, id, name, status, creator_user_id, latest_version, designated_version,
      designated_version_id, revision, created_at, updated_at)
      SELECT ?, CONCAT('p', p.n), ${id}, 'x', 'active', 'user_1', 1, 1, ${id}, ?, '2026-01-01', '2026-01-01'
      FROM numbers p WHERE p.n < ?`,
    [workspace, revisions, presets],
  );
  await store.pool.query(
    `INSERT INTO preset_changes (workspace_id, preset_id, revision, action, user_id, key_id, fields, created_at)
      SELECT ?, ${id}, r.n + 1, 'version_created', 'user_1', ?, '[]',
        '2026-01-01' + INTERVAL ((r.n * ${presets} + p.n) DIV 7) SECOND
      FROM numbers p JOIN numbers r WHERE p.n < ?`,
    [workspace, workspace, presets],
  );
});

afterAll(() => store.close());

/** All there is, in order. */
async function listAll(): Promise<string[]> {
  const [rows] = await store.pool.query<RowDataPacket[]>(
    `SELECT preset_id, revision FROM preset_changes WHERE workspace_id = ?
      ORDER BY created_at DESC, preset_id DESC, revision DESC`,
    [workspace],
  );
  return rows.map((row) => `${idFromBytes(row.preset_id)} ${row.revision}`);
}

async function list(offset: number, limit = 100): Promise<string[]> {
  const { changes, totalCount } = await lists.listWorkspaceChanges(workspaceId, { offset, limit });
  expect(totalCount).toBe((await listAll()).length);
  return changes.map(({ presetId, change }) => `${presetId} ${change.revision}`);
}

async function marks(): Promise<number[]> {
  const [rows] = await store.pool.query<RowDataPacket[]>("SELECT changes FROM preset_change_marks ORDER BY changes");
  return rows.map((row) => row.changes);
}

const offsets = [0, 1, 9_999, 20_000, 25_001, 30_000, 34_950, 35_000, 39_900, 45_000, 49_999, 60_000, 69_950, 70_000];

async function expectPages(): Promise<void> {
  const all = await listAll();
  for (const offset of offsets) expect(await list(offset), `offset ${offset}`).toEqual(all.slice(offset, offset + 100));
}

describe("pages of many changes", () => {
  it("are right without marks, and have them made where they are far from both ends", async () => {
    await list(0);
    expect(await marks()).toEqual([]);
    await expectPages();
    await expect.poll(async () => (await marks()).length).toBe(6);
    for (const [index, changes] of (await marks()).entries()) {
      expect(Math.abs(changes - 10_000 * (index + 1))).toBeLessThan(10 * (index + 1));
    }
  });

  it("are right with marks, and none needs a walk from an end", async () => {
    await expectPages();
    // One connection, so that what it reads is all that is read.
    const pool = openPool(store.url, 1);
    const page = { offset: 34_950, limit: 50 };
    const reads = await rowReads(pool as unknown as PoolConnection, () =>
      listWorkspaceChanges(pool, workspaceId, page),
    );
    await pool.end();
    expect(reads).toBeLessThan(25_000);
  });

  it("are right where a change comes late whose time is past, and the marks are made anew", async () => {
    await store.pool.query("UPDATE presets SET revision = revision + 1 WHERE workspace_id = ? AND slug = 'p3'", [
      workspace,
    ]);
    await store.pool.query(
      `INSERT INTO preset_changes (workspace_id, preset_id, revision, action, user_id, key_id, fields, created_at)
        SELECT workspace_id, id, revision, 'version_created', 'user_1', ?, '[]', '2026-01-01 00:10:00'
        FROM presets WHERE workspace_id = ? AND slug = 'p3'`,
      [workspace, workspace],
    );
    const [before = 0] = await marks();
    await expectPages();
    await expect
      .poll(async () => {
        await list(35_000);
        return marks();
      })
      .toHaveLength(6);
    expect((await marks())[0]).not.toBe(before);
    await expectPages();
    expect((await listAll()).length).toBe(total + 1);
  });
});
