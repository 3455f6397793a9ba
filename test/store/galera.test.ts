import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { schemaIsCurrent } from "../../services/platform/mysql/schema.ts";
import { inTransaction, retryTransient } from "../../services/platform/mysql/transaction.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { presetMigrations } from "../../services/preset/app.ts";
import { updatePreset } from "../../services/preset/store/update-preset.ts";
import { VersionWriter } from "../../services/preset/store/version-writer.ts";
import { isSharded } from "../support/database.ts";
import { type DatabaseProxy, type Fault, openDatabaseProxy, type Phase } from "../support/database-proxy.ts";
import {
  actor,
  callerWithTime,
  creation,
  openTestStore,
  presetUpdate,
  type TestStore,
} from "../support/preset-store.ts";

// What nodes of a multi-writer cluster were observed to answer while some of them were stopped, partitioned or slow.

let store: TestStore;
let proxy: DatabaseProxy;
let pool: Pool;
let writer: VersionWriter;
let workspaceId: string;

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(() => store.close());

beforeEach(async () => {
  workspaceId = newId();
  await store.create(workspaceId, "shared");
  proxy = await openDatabaseProxy(store.url);
  pool = openPool(proxy.url, 2);
  writer = new VersionWriter(pool, { batchByWorkspace: isSharded });
});

afterEach(async () => {
  await pool.end();
  await proxy.close();
});

const answers: readonly [string, Phase, Fault][] = [
  ["another node wins, reported in mid-transaction", "execute", 1213],
  ["another node wins, reported while a statement is prepared", "prepare", 1213],
  ["another node wins, reported at the commit", "commit", 1213],
  ["waiting for another node at the start fails", "query", 1205],
  ["it has no primary component", "query", 1047],
  ["it loses its primary component in mid-transaction", "execute", 1047],
  ["it loses its primary component before the commit", "commit", 1047],
  ["it has rejoined, but its storage engine refuses every write", "execute", 1030],
  ["it loses its primary component at the commit, which is not applied", "commit", 1180],
  [
    "it loses its primary component at the commit, which the others have applied",
    "commit",
    { errno: 1180, isDone: true },
  ],
];

describe("a cluster node", () => {
  it.each(answers)("stores and answers one version of a creation if %s", async (_name, phase, fault) => {
    proxy.fail(phase, fault, 1);
    const made = await writer.createVersion(creation(workspaceId, "shared"), callerWithTime());
    expect(made.designatedVersion.version).toBe(2);
    expect((await store.versions(made)).map(({ version }) => version)).toEqual([1, 2]);
    expect(await store.revisions(made)).toEqual([1, 2]);
  });

  it.each(answers)("stores and answers one change of an update if %s", async (_name, phase, fault) => {
    const update = presetUpdate("shared", { name: "Changed" });
    proxy.fail(phase, fault, 1);
    const caller = callerWithTime();
    const changed = await retryTransient(caller.deadlineMs, () =>
      updatePreset(pool, workspaceId, actor, update, caller),
    );
    expect(changed).toMatchObject({ name: "Changed", revision: 2 });
    expect(await store.revisions(changed)).toEqual([1, 2]);
  });

  it("keeps a transaction whole if it silently aborts it while preparing a statement", async () => {
    const node = await openDatabaseProxy(store.url, { isGalera: true });
    const nodePool = openPool(node.url, 1);
    await nodePool.query("CREATE TABLE whole (n INT PRIMARY KEY)");
    await inTransaction(nodePool, async (connection) => {
      await connection.execute("INSERT INTO whole VALUES (?)", [1]);
      node.fail("prepare", "untold abort");
      await connection.execute("INSERT INTO whole VALUES (?), (?)", [2, 3]);
    });
    const [rows] = await nodePool.query<RowDataPacket[]>("SELECT n FROM whole ORDER BY n");
    expect(rows.map(({ n }) => n)).toEqual([1, 2, 3]);
    await nodePool.end();
    await node.close();
  });

  it("is not ready while it refuses to read tables, even if it answers other statements", async () => {
    const check = schemaIsCurrent(pool, presetMigrations);
    await check();
    proxy.fail("read", 1047);
    await pool.query("SELECT @@global.read_only");
    await expect(check()).rejects.toMatchObject({ errno: 1047 });
    await proxy.heal();
    await check();
  });

  const read = () =>
    retryTransient(monotonicMs() + 15_000, () =>
      pool.execute<RowDataPacket[]>("SELECT slug FROM presets WHERE workspace_id = ?", [idToBytes(workspaceId)]),
    );

  it("retries a read on another connection if waiting for another node fails", async () => {
    await read();
    const before = proxy.accepted;
    proxy.fail(isSharded ? "query" : "execute", 1205, 1);
    expect((await read())[0]).toEqual([{ slug: "shared" }]);
    expect(proxy.accepted).toBe(before + 1);
  });

  it("makes a read fail as unavailable, not as a conflict, if that persists", async () => {
    proxy.fail(isSharded ? "query" : "execute", 1205);
    await expect(read()).rejects.toMatchObject({ kind: "unavailable" });
  });
});
