import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPool, type Pool } from "../../services/platform/mysql/pool.ts";
import type { TestDatabase } from "../support/database.ts";
import { createPresetDatabase } from "../support/preset-database.ts";
import { type Stack, startStack } from "../support/stack.ts";

/** Stands for a replica: it has the tables, but only the rows that a test gives it. */
let replica: TestDatabase;
let replicaPool: Pool;
let stack: Stack;

beforeAll(async () => {
  replica = await createPresetDatabase();
  replicaPool = openPool(replica.url, 1);
  stack = await startStack({ preset: { readDatabaseUrl: replica.url } });
});

afterAll(async () => {
  await stack.close();
  await replicaPool.end();
  await replica.drop();
});

function get(path: string) {
  return stack.request<{ version: number; revision: number }[]>("GET", path, { key: stack.apiKey });
}

async function createVersions(slug: string, count: number, filler = ""): Promise<void> {
  for (let n = 1; n <= count; n += 1) {
    const { status } = await stack.create(slug, { text: { filler } }, { dialect: "responses" });
    expect(status).toBe(200);
  }
}

/** Brings the replica to the state when the preset had this many versions. */
async function replicate(slug: string, versions: number): Promise<void> {
  const primary = new URL(stack.preset.config.databaseUrl).pathname.slice(1);
  for (const table of ["presets", "preset_versions", "preset_changes"]) {
    const column = table === "presets" ? "id" : "preset_id";
    await replicaPool.query(
      `REPLACE INTO ${table} SELECT * FROM ${primary}.${table} WHERE ${column} IN
        (SELECT id FROM ${primary}.presets WHERE slug = ?)`,
      [slug],
    );
  }
  await replicaPool.query("DELETE FROM preset_versions WHERE version > ?", [versions]);
  await replicaPool.query("DELETE FROM preset_changes WHERE revision > ?", [versions]);
  await replicaPool.query(
    "UPDATE presets SET latest_version = ?, designated_version = ?, revision = ? WHERE slug = ?",
    [versions, versions, versions, slug],
  );
}

describe("a read replica", () => {
  it("serves lists, while single presets are read from the primary", async () => {
    await createVersions("unknown", 2);
    expect(await get("/presets/unknown")).toMatchObject({ status: 200, json: { data: { slug: "unknown" } } });
    expect(await get("/presets/unknown/versions/1")).toMatchObject({ status: 200, json: { data: { version: 1 } } });
    expect(await get("/presets")).toMatchObject({ status: 200, json: { data: [], total_count: 0 } });
  });

  it("that lacks a preset does not hide its history", async () => {
    const versions = await get("/presets/unknown/versions");
    expect(versions).toMatchObject({ status: 200, json: { data: [{ version: 1 }, { version: 2 }], total_count: 2 } });
    const changes = await get("/presets/unknown/changes");
    expect(changes).toMatchObject({ status: 200, json: { data: [{ revision: 2 }, { revision: 1 }], total_count: 2 } });
    expect((await get("/presets/none/versions")).status).toBe(404);
    expect((await get("/presets/none/changes")).status).toBe(404);
  });

  it("that lacks a column during a rollout leaves the list to the primary", async () => {
    await createVersions("upgraded", 1);
    await replicate("upgraded", 1);
    await replicaPool.query("ALTER TABLE preset_versions DROP COLUMN dialect");
    const versions = await get("/presets/upgraded/versions");
    await replicaPool.query("ALTER TABLE preset_versions ADD COLUMN dialect VARCHAR(32) NULL");
    expect(versions).toMatchObject({ status: 200, json: { data: [{ version: 1, dialect: "responses" }] } });
  });

  describe("that lacks a column during a rollout", () => {
    /** What it answers while the replica lacks the column. */
    async function without<T>(table: string, column: string, ask: () => Promise<T>): Promise<T> {
      await replicaPool.query(`ALTER TABLE ${table} RENAME COLUMN ${column} TO renamed`);
      try {
        return await ask();
      } finally {
        await replicaPool.query(`ALTER TABLE ${table} RENAME COLUMN renamed TO ${column}`);
      }
    }

    it("leaves the list of presets to the primary", async () => {
      await createVersions("listed", 1);
      const presets = await without("presets", "name", () => get("/presets?q=listed"));
      expect(presets).toMatchObject({ status: 200, json: { data: [{ slug: "listed" }], total_count: 1 } });
    });

    it("leaves the models of listed presets to the primary", async () => {
      const model = "vendor/model";
      expect((await stack.create("modelled", { model, input: "" }, { dialect: "responses" })).status).toBe(200);
      await replicate("modelled", 1);
      const presets = await without("preset_versions", "config", () => get("/presets?q=modelled&include=serving"));
      expect(presets).toMatchObject({ status: 200, json: { data: [{ slug: "modelled", serving: { model } }] } });
    });

    it("leaves the search for a similar slug to the primary", async () => {
      await createVersions("misspelled", 1);
      const body = { model: "m", input: "" };
      const resolving = () =>
        stack.request("POST", "/presets/mispelled/resolve/responses", { key: stack.apiKey, body });
      const { status, json } = await without("presets", "status", resolving);
      expect([status, json.error.message]).toEqual([404, expect.stringContaining("Did you mean misspelled?")]);
    });
  });

  it.each([
    [
      "an index",
      "ALTER TABLE preset_changes RENAME KEY preset_changes_user TO renamed",
      "ALTER TABLE preset_changes RENAME KEY renamed TO preset_changes_user",
    ],
    ["a table", "RENAME TABLE preset_change_marks TO renamed", "RENAME TABLE renamed TO preset_change_marks"],
  ])("that lacks %s leaves the workspace changes to the primary", async (_what, lose, regain) => {
    await replicaPool.query(lose);
    const changes = await get(`/changes?user_id=${stack.userId}`);
    await replicaPool.query(regain);
    expect(changes.status).toBe(200);
    expect(changes.json.total_count).toBeGreaterThan(0);
  });

  it("that lags serves what it has, and the rest comes from the primary", async () => {
    await createVersions("behind", 3);
    await replicate("behind", 1);
    expect(await get("/presets/behind/versions")).toMatchObject({ json: { data: [{ version: 1 }], total_count: 1 } });
    const rest = await get("/presets/behind/versions?offset=1");
    expect(rest).toMatchObject({ status: 200, json: { data: [{ version: 2 }, { version: 3 }], total_count: 3 } });
    expect(await get("/presets/behind/versions?offset=3")).toMatchObject({ json: { data: [], total_count: 3 } });
  });

  it("that falls behind in the middle of a page does not truncate it", async () => {
    const count = 16;
    await createVersions("large", count, "s".repeat(1_000_000));
    await replicate("large", count);
    const response = await fetch(`${stack.baseUrl}/api/v1/presets/large/versions`, {
      headers: { authorization: `Bearer ${stack.apiKey}` },
    });
    // The client stops reading, so the rest is not requested yet.
    await sleep(300);
    await replicate("large", count - 2);
    const { data, total_count } = (await response.json()) as { data: { version: number }[]; total_count: number };
    expect(data.map(({ version }) => version)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    expect(total_count).toBe(count);
  });
});
