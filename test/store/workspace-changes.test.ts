import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { idFromBytes, idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool, type PoolConnection, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import type { ChangeFilter } from "../../services/preset/domain/change.ts";
import { ChangeMarkKeeper } from "../../services/preset/store/change-mark-keeper.ts";
import { extendMarks } from "../../services/preset/store/change-marks.ts";
import { listWorkspaceChanges } from "../../services/preset/store/list-workspace-changes.ts";
import { PresetLists } from "../../services/preset/store/preset-lists.ts";
import { waitsForLock } from "../support/lock-waits.ts";
import { callerWithTime, openTestStore, type TestStore } from "../support/preset-store.ts";
import { rowReads } from "../support/row-reads.ts";

const presets = 20_000;
const revisions = 4;
const total = presets * revisions;

let store: TestStore;
let lists: PresetLists;
const workspaceId = newId();
const workspace = idToBytes(workspaceId);

/** Seven changes per second, so that many share their time. Most are by one user, some by another, few by a third. */
beforeAll(async () => {
  store = await openTestStore();
  lists = new PresetLists(store.pool, store.pool);
  // Inserting so many rows may take longer than a request's timeout.
  const filling = openPool(store.url, 1, { statementTimeoutMs: 150_000 });
  await filling.query("CREATE TABLE numbers (n INT PRIMARY KEY)");
  await filling.query("INSERT INTO numbers VALUES ?", [Array.from({ length: presets }, (_, n) => [n])]);
  const id = "UNHEX(LEFT(SHA2(p.n, 256), 32))";
  await filling.query(
    `INSERT INTO presets (workspace_id, slug, id, name, status, creator_user_id, latest_version, designated_version,
      designated_version_id, revision, created_at, updated_at)
      SELECT ?, CONCAT('p', p.n), ${id}, 'x', 'active', 'user_1', 1, 1, ${id}, ?, '2026-01-01', '2026-01-01'
      FROM numbers p`,
    [workspace, revisions],
  );
  const number = `(r.n * ${presets} + p.n)`;
  await filling.query(
    `INSERT INTO preset_changes (workspace_id, preset_id, revision, action, user_id, key_id, fields, created_at)
      SELECT ?, ${id}, r.n + 1,
        CASE WHEN r.n = 0 THEN 'preset_created' WHEN MOD(${number}, 50) = 0 THEN 'preset_updated' ELSE 'version_created' END,
        CASE WHEN MOD(${number}, 9973) = 0 THEN 'user_3' WHEN MOD(${number}, 6) = 0 THEN 'user_2' ELSE 'user_1' END,
        ?, '[]', '2026-01-01' + INTERVAL (${number} DIV 7) SECOND
      FROM numbers p JOIN numbers r WHERE r.n < ?`,
    [workspace, workspace, revisions],
  );
  await filling.end();
});

afterAll(() => store.close());

/** All changes, in order. */
async function listAll({ action, userId }: ChangeFilter): Promise<string[]> {
  const [rows] = await store.pool.query<RowDataPacket[]>(
    `SELECT preset_id, revision FROM preset_changes
      WHERE workspace_id = ? AND user_id = COALESCE(?, user_id) AND action = COALESCE(?, action)
      ORDER BY created_at DESC, preset_id DESC, revision DESC`,
    [workspace, userId ?? null, action ?? null],
  );
  return rows.map((row) => `${idFromBytes(row.preset_id)} ${row.revision}`);
}

async function marks({ action, userId }: ChangeFilter): Promise<number[]> {
  const [rows] = await store.pool.query<RowDataPacket[]>(
    "SELECT changes FROM preset_change_marks WHERE user_id = ? AND action = ? ORDER BY changes",
    [userId ?? "", action ?? ""],
  );
  return rows.map((row) => row.changes);
}

const all: ChangeFilter = { action: undefined, userId: undefined };
/** Each with its number of marks: none in the last 10 minutes, which are not settled, nor after the last one of all. */
const filters: readonly (readonly [string, ChangeFilter, number])[] = [
  ["all", all, 37],
  ["one user", { ...all, userId: "user_1" }, 30],
  ["another user", { ...all, userId: "user_2" }, 6],
  ["a user who did little", { ...all, userId: "user_3" }, 0],
  ["an action", { ...all, action: "version_created" }, 26],
  ["a rare action", { ...all, action: "preset_updated" }, 0],
  ["an action of a user", { action: "version_created", userId: "user_1" }, 22],
  ["a rare action of a user", { action: "preset_updated", userId: "user_2" }, 0],
  ["nobody", { ...all, userId: "user_4" }, 0],
];

/** Pages at both ends, on both sides of each quarter, and past the end. */
function offsetsOf(count: number): number[] {
  const quarters = [1, 2, 3].map((n) => Math.floor((n * count) / 4));
  return [0, 1, 2_001, ...quarters, ...quarters.map((n) => n + 1), count - 100, count - 1, count].filter((n) => n >= 0);
}

async function expectPages(filter: ChangeFilter): Promise<void> {
  const expected = await listAll(filter);
  for (const offset of offsetsOf(expected.length)) {
    const page = { offset, limit: 100 };
    const { changes, totalCount } = await lists.listWorkspaceChanges(workspaceId, filter, page, callerWithTime());
    expect(totalCount).toBe(expected.length);
    const found = changes.map(({ presetId, change }) => `${presetId} ${change.revision}`);
    expect(found, `offset ${offset}`).toEqual(expected.slice(offset, offset + 100));
  }
}

describe.each(filters)("pages of many changes: %s", (_name, filter, markCount) => {
  it("are correct without marks, and get marks if there are many", async () => {
    await expectPages(filter);
    await expect
      .poll(async () => {
        await lists.listWorkspaceChanges(workspaceId, filter, { offset: 0, limit: 1 }, callerWithTime());
        return (await marks(filter)).length;
      })
      .toBe(markCount);
    for (const [index, changes] of (await marks(filter)).entries()) {
      expect(Math.abs(changes - 2_000 * (index + 1))).toBeLessThan(10 * (index + 1));
    }
  });

  it("are correct with marks, and read only from the nearest mark", async () => {
    await expectPages(filter);
    // One connection, so that its counters cover everything that is read.
    const pool = openPool(store.url, 1);
    const { length } = await listAll(filter);
    for (const offset of offsetsOf(length)) {
      const reads = await rowReads(pool as unknown as PoolConnection, () =>
        listWorkspaceChanges(pool, workspaceId, filter, { offset, limit: 50 }),
      );
      // Two marks each, and the unsettled changes.
      expect(reads, `offset ${offset}`).toBeLessThan(12_500);
    }
    await pool.end();
  });
});

describe("a late change with a past time", () => {
  it("makes the first process that reads rebuild the marks of all filters", async () => {
    await store.pool.query("UPDATE presets SET revision = revision + 1 WHERE workspace_id = ? AND slug = 'p3'", [
      workspace,
    ]);
    await store.pool.query(
      `INSERT INTO preset_changes (workspace_id, preset_id, revision, action, user_id, key_id, fields, created_at)
        SELECT workspace_id, id, revision, 'version_created', 'user_1', ?, '[]', '2026-01-01 00:01:00'
        FROM presets WHERE workspace_id = ? AND slug = 'p3'`,
      [workspace, workspace],
    );
    const before = await Promise.all(filters.map(([, filter]) => marks(filter)));
    // It has not read yet.
    lists = new PresetLists(store.pool, store.pool);
    const of = (filter: ChangeFilter) =>
      lists.listWorkspaceChanges(workspaceId, filter, { offset: 0, limit: 1 }, callerWithTime());
    await expect.poll(async () => (await of(all)).totalCount).toBe(total + 1);
    for (const [index, [, filter, markCount]] of filters.entries()) {
      await expect
        .poll(async () => {
          await of(filter);
          return marks(filter);
        })
        .toHaveLength(markCount);
      if (markCount > 0 && filter.userId !== "user_2") expect((await marks(filter))[0]).not.toBe(before[index]?.[0]);
      await expectPages(filter);
    }
  });
});

it("checks the marks of a workspace that is read at most once a minute", async () => {
  const pool = openPool(store.url, 1);
  const keeper = new ChangeMarkKeeper(pool);
  const readsOfCheck = () =>
    rowReads(pool as unknown as PoolConnection, () =>
      keeper.maintain(workspaceId, all, { areUsed: true, areWanted: false }),
    );
  expect(await readsOfCheck()).toBeGreaterThan(presets);
  expect(await readsOfCheck()).toBe(0);
  const inAMinute = performance.now() + 60_001;
  const clock = vi.spyOn(performance, "now").mockReturnValue(inAMinute);
  expect(await readsOfCheck()).toBeGreaterThan(presets);
  clock.mockRestore();
  await pool.end();
});

it("does not treat recent changes as settled because of one dated far ahead", async () => {
  const other = newId();
  await store.pool.query(
    `INSERT INTO preset_changes (workspace_id, preset_id, revision, action, user_id, key_id, fields, created_at)
      SELECT ?, ?, n + 1, 'version_created', 'user_1', ?, '[]', NOW(3) + INTERVAL IF(n = 0, 10, 0) YEAR - INTERVAL n SECOND
      FROM numbers WHERE n < 10000`,
    [idToBytes(other), workspace, workspace],
  );
  await extendMarks(store.pool, other, all);
  const [rows] = await store.pool.query<RowDataPacket[]>(
    "SELECT MAX(created_at) AS last, NOW(3) AS now FROM preset_change_marks WHERE workspace_id = ?",
    [idToBytes(other)],
  );
  expect(rows[0]?.now.getTime() - rows[0]?.last.getTime()).toBeGreaterThan(9 * 60_000);
});

it("adds no mark after one that is deleted meanwhile because it is wrong", async () => {
  const other = newId();
  const stored = async () => {
    const [rows] = await store.pool.query<RowDataPacket[]>(
      "SELECT changes FROM preset_change_marks WHERE workspace_id = ? ORDER BY changes",
      [idToBytes(other)],
    );
    return rows.map(({ changes }) => changes);
  };
  await store.pool.query(
    `INSERT INTO preset_changes (workspace_id, preset_id, revision, action, user_id, key_id, fields, created_at)
      SELECT ?, ?, n + 1, 'version_created', 'user_1', ?, '[]', '2026-01-01' + INTERVAL n SECOND
      FROM numbers WHERE n < 10000`,
    [idToBytes(other), workspace, workspace],
  );
  await extendMarks(store.pool, other, all);
  expect(await stored()).toEqual([2_000, 4_000, 6_000, 8_000]);
  await store.pool.query("DELETE FROM preset_change_marks WHERE workspace_id = ? AND changes > 2000", [
    idToBytes(other),
  ]);
  const deleter = await store.pool.getConnection();
  await deleter.query("START TRANSACTION");
  await deleter.query("DELETE FROM preset_change_marks WHERE workspace_id = ?", [idToBytes(other)]);
  const extended = extendMarks(store.pool, other, all);
  await expect.poll(() => waitsForLock(store.pool)).toBe(true);
  await deleter.query("COMMIT");
  deleter.release();
  await extended;
  expect(await stored()).toEqual([]);
});
