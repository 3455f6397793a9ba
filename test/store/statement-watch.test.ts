import { createConnection } from "mysql2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { openPool, type Pool } from "../../services/platform/mysql/pool.ts";
import { inTransaction } from "../../services/platform/mysql/transaction.ts";
import { PresetReader } from "../../services/preset/store/preset-reader.ts";
import { VersionWriter } from "../../services/preset/store/version-writer.ts";
import type { TestDatabase } from "../support/database.ts";
import { createPresetDatabase } from "../support/preset-database.ts";
import { callerWithTime, creation } from "../support/preset-store.ts";
import { lookForShardFault, lookForTenantFault, workspacesIn } from "../support/statement-rules.ts";
import { watchStatements } from "../support/statement-watch.ts";

const faults = watchStatements();
const ids = [newId(), newId()].map(idToBytes);
let database: TestDatabase;
/** Like a connection to Vitess. */
let pool: Pool;

beforeAll(async () => {
  database = await createPresetDatabase();
  pool = openPool(database.url, 4, { protocol: "text" });
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** The faults found since the last call. They are removed, so that this test does not fail because of them. */
const found = () => faults.splice(0).map((fault) => fault.split(":")[0]);

describe("a statement sent by a test", () => {
  it.each([
    ["SELECT slug FROM presets WHERE workspace_id = ? LIMIT ?", "the numbers of a page must be in the text"],
    ["SELECT slug FROM presets WHERE workspace_id = ? LIMIT 1 OFFSET ?", "the numbers of a page must be in the text"],
    [
      "SELECT GET_LOCK(HEX(?), ?) AS granted",
      "a named lock loses its alias on Vitess, and is lost after half a minute",
    ],
  ])("is reported: %s", async (sql, fault) => {
    await pool.query(sql, [ids[0], 1]).catch(() => {});
    expect(found()).toEqual([fault]);
  });

  it("is reported if it is prepared on a Vitess connection", async () => {
    const core = createConnection(database.url.replace("?protocol=text", ""));
    const send = (method: "query" | "execute", sql: string) => new Promise((resolve) => core[method](sql, resolve));
    await send("execute", "SELECT 1");
    expect(found()).toEqual([]);
    await send("query", "SET SESSION transaction_mode = 'SINGLE'");
    await send("execute", "SELECT 1");
    core.destroy();
    expect(found()).toEqual(["what is prepared inside of a transaction reaches any shard"]);
  });

  it("is reported if a Vitess transaction spans two workspaces", async () => {
    const count = "SELECT COUNT(*) FROM presets WHERE workspace_id = ?";
    for (const id of ids) await pool.execute(count, [id]);
    for (const id of ids) await inTransaction(pool, (connection) => connection.execute(count, [id]));
    expect(found()).toEqual([]);
    await inTransaction(pool, async (connection) => {
      for (const id of ids) await connection.execute(count, [id]);
    });
    expect(found()).toEqual(["its transaction is about several workspaces"]);
  });
});

describe("a statement sent by a service", () => {
  it.each([
    [false, ["it is about several workspaces, which may be on several shards"]],
    [true, []],
  ])("covers one workspace at a time only if configured: %s", async (batchByWorkspace, expected) => {
    const reader = new PresetReader(pool, { batchByWorkspace });
    // Requests that arrive while the first is in progress are batched.
    const workspaces = [newId(), newId(), newId()];
    await Promise.all(workspaces.map((workspaceId) => reader.findPreset(workspaceId, "none", callerWithTime())));
    expect(new Set(found())).toEqual(new Set(expected));

    const writer = new VersionWriter(pool, { batchByWorkspace });
    const creations = [...workspaces, ...workspaces].map((workspaceId) => creation(workspaceId, "a"));
    await Promise.all(creations.map((each) => writer.createVersion(each, callerWithTime())));
    expect(found().includes("its transaction is about several workspaces")).toBe(!batchByWorkspace);
  });
});

describe("the rule that a statement names its workspace", () => {
  it.each([
    "SELECT slug FROM presets WHERE id = ?",
    "SELECT v.id FROM presets p JOIN preset_versions v ON v.preset_id = p.id WHERE p.workspace_id = ?",
    "INSERT INTO preset_counts (slot, presets) VALUES (?, ?)",
    "UPDATE presets SET name = ? WHERE slug = ?",
    "DELETE FROM preset_changes WHERE created_at < ?",
    "SELECT name FROM presets WHERE name = 'workspace_id = ?'",
  ])("reports: %s", (sql) => {
    expect(lookForShardFault(sql)).toBe("it does not name the workspace of every table that it touches");
  });

  it.each([
    "SELECT slug FROM presets WHERE workspace_id = ? AND id = ?",
    "SELECT v.id FROM presets p JOIN preset_versions v ON v.workspace_id = p.workspace_id WHERE p.workspace_id = ?",
    "INSERT INTO preset_counts (workspace_id, slot, presets) VALUES (?, ?, ?)",
    "CREATE TABLE IF NOT EXISTS presets (slug VARBINARY(128))",
    "SELECT name FROM schema_migrations WHERE name = ?",
    "SELECT id FROM workspaces WHERE slug = ?",
  ])("accepts: %s", (sql) => {
    expect(lookForShardFault(sql)).toBeUndefined();
  });
});

describe("the rule that a statement names its organization", () => {
  it.each([
    "DELETE FROM memberships WHERE user_id = ?",
    "DELETE FROM workspace_members WHERE user_id IN (?, ?)",
    "UPDATE memberships SET role = ? WHERE user_id = ?",
    "SELECT answer FROM change_requests WHERE request_id = ?",
    "SELECT m.role FROM workspace_members w JOIN memberships m ON m.user_id = w.user_id WHERE w.workspace_id = ?",
  ])("reports: %s", (sql) => {
    expect(lookForTenantFault(sql)).toBe("it does not name the organization of every table that it touches");
  });

  it.each([
    "DELETE FROM memberships WHERE organization_id = ? AND user_id = ?",
    "DELETE FROM workspace_members WHERE workspace_id = ? AND user_id IN (?, ?)",
    "SELECT m.role FROM organizations o JOIN memberships m ON m.organization_id = o.id WHERE o.id = ?",
    "SELECT id FROM organization_changes WHERE id IN (?, ?)",
    "SELECT id FROM api_keys WHERE key_hash = ?",
  ])("accepts: %s", (sql) => {
    expect(lookForTenantFault(sql)).toBeUndefined();
  });
});

it("finds a statement's workspaces in its conditions and its inserted rows", () => {
  const [one, other] = ids as [Buffer, Buffer];
  const countOf = (sql: string, values: readonly unknown[]) => workspacesIn(sql, values).size;
  const either = "SELECT slug FROM presets WHERE (workspace_id = ? AND slug = ?) OR (workspace_id = ? AND slug = ?)";
  expect(countOf(either, [one, "a", one, "b"])).toBe(1);
  expect(countOf(either, [one, "a", other, "a"])).toBe(2);
  const rows = "INSERT INTO preset_counts (workspace_id, slot) VALUES (?, ?), (?, ?)";
  expect(countOf(rows, [one, 1, one, 2])).toBe(1);
  expect(countOf(rows, [one, 1, other, 1])).toBe(2);
});
