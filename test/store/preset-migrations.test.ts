import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idToBytes, newId } from "../../services/platform/domain/ids.ts";
import { migrate } from "../../services/platform/mysql/migrate.ts";
import { openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { presetMigrations } from "../../services/preset/app.ts";
import { PresetReader } from "../../services/preset/store/preset-reader.ts";
import { createTestDatabase, isSharded, type TestDatabase } from "../support/database.ts";
import { migrateUpTo } from "../support/migrate-up-to.ts";
import { callerWithTime } from "../support/preset-store.ts";

/** The last migration of the release before dialects were stored. */
const before = "0005";
const workspaceId = newId();

let database: TestDatabase;
let pool: Pool;

/** A database as left by the previous release. */
beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool(database.url, 2);
  await migrateUpTo(before, database.url, presetMigrations);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** As the previous release stores a preset, which it may still do while others are newer. */
async function insertAsBefore(slug: string): Promise<void> {
  const [presetId, versionId, now] = [idToBytes(newId()), idToBytes(newId()), new Date()];
  await pool.execute(
    `INSERT INTO presets (workspace_id, slug, id, name, description, status, status_updated_at, creator_user_id,
      latest_version, designated_version, designated_version_id, revision, created_at, updated_at)
      VALUES (?, ?, ?, ?, NULL, 'active', NULL, 'user_1', 1, 1, ?, 1, ?, ?)`,
    [idToBytes(workspaceId), slug, presetId, slug, versionId, now, now],
  );
  await pool.execute(
    `INSERT INTO preset_versions (workspace_id, preset_id, version, id, config, system_prompt, creator_id, request_id,
      request_digest, revision, preset_state, created_at) VALUES (?, ?, 1, ?, '{}', NULL, 'user_1', ?, ?, 1, NULL, ?)`,
    [idToBytes(workspaceId), presetId, versionId, slug, Buffer.alloc(32), now],
  );
}

describe("the migration that adds dialects", () => {
  it("rewrites no rows, and leaves existing ones without a dialect", async () => {
    await insertAsBefore("early");
    const file = readdirSync(presetMigrations).find((name) => name.startsWith("0006")) as string;
    const sql = readFileSync(new URL(file, presetMigrations), "utf8");
    // A server that would have to rewrite the table rejects this.
    await pool.query(`${sql}, ALGORITHM = INSTANT`);
    // The migration itself finds the column, as after a crash.
    expect((await migrate(database.url, presetMigrations, () => {}))[0]).toBe(file.replace(".sql", ""));
    await insertAsBefore("late");
    const reader = new PresetReader(pool, { batchByWorkspace: isSharded });
    for (const slug of ["early", "late"]) {
      const preset = await reader.findPreset(workspaceId, slug, callerWithTime());
      expect(preset?.designatedVersion).toMatchObject({ configJson: "{}", dialect: undefined });
    }
    const [rows] = await pool.query<RowDataPacket[]>("SELECT dialect FROM preset_versions");
    expect(rows.map(({ dialect }) => dialect)).toEqual([null, null]);
  });
});
