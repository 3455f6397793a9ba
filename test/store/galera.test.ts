import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { inTransaction, retryTransient } from "../../services/platform/mysql/transaction.ts";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import { updatePreset } from "../../services/preset/store/update-preset.ts";
import { VersionWriter } from "../../services/preset/store/version-writer.ts";
import { isSharded } from "../support/database.ts";
import { type DatabaseProxy, type Fault, openDatabaseProxy, type Phase } from "../support/database-proxy.ts";
import { actor, creation, openTestStore, patient, presetUpdate, type TestStore } from "../support/preset-store.ts";

// What the nodes of a cluster with several writers were seen to answer while some of them were stopped, cut off or slow.

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
  ["another node was faster, told in the middle", "execute", 1213],
  ["another node was faster, told at a statement that is not prepared yet", "prepare", 1213],
  ["another node was faster, told at the commit", "commit", 1213],
  ["it waits for another node before it begins, and that fails", "query", 1205],
  ["it is without its primary component", "query", 1047],
  ["it loses its primary component in the middle", "execute", 1047],
  ["it lost its primary component before the commit", "commit", 1047],
  ["it loses its primary component at the commit, which is not carried out", "commit", 1180],
  [
    "it loses its primary component at the commit, which the others have carried out",
    "commit",
    { errno: 1180, isDone: true },
  ],
];

describe("a node of a cluster", () => {
  it.each(answers)("leaves one version of a creation, and its answer, where %s", async (_name, phase, fault) => {
    proxy.fail(phase, fault, 1);
    const made = await writer.createVersion(creation(workspaceId, "shared"), patient());
    expect(made.designatedVersion.version).toBe(2);
    expect((await store.versions(made)).map(({ version }) => version)).toEqual([1, 2]);
    expect(await store.revisions(made)).toEqual([1, 2]);
  });

  it.each(answers)("leaves one change of an update, and its answer, where %s", async (_name, phase, fault) => {
    const update = presetUpdate("shared", { name: "Changed" });
    proxy.fail(phase, fault, 1);
    const caller = patient();
    const changed = await retryTransient(caller.deadlineMs, () =>
      updatePreset(pool, workspaceId, actor, update, caller),
    );
    expect(changed).toMatchObject({ name: "Changed", revision: 2 });
    expect(await store.revisions(changed)).toEqual([1, 2]);
  });

  it("leaves a transaction whole where it aborts it while a statement is prepared, and does not say so", async () => {
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

  const read = () =>
    retryTransient(monotonicMs() + 15_000, () =>
      pool.execute<RowDataPacket[]>("SELECT slug FROM presets WHERE workspace_id = ?", [idToBytes(workspaceId)]),
    );

  it("reads on through another connection where it waits for another node before a read, and that fails", async () => {
    await read();
    const before = proxy.accepted;
    proxy.fail(isSharded ? "query" : "execute", 1205, 1);
    expect((await read())[0]).toEqual([{ slug: "shared" }]);
    expect(proxy.accepted).toBe(before + 1);
  });

  it("is out of reach for who reads where that goes on, and no conflict", async () => {
    proxy.fail(isSharded ? "query" : "execute", 1205);
    await expect(read()).rejects.toMatchObject({ kind: "unavailable" });
  });
});
