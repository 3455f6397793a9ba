import { hash, randomUUID } from "node:crypto";
import { idFromBytes, idToBytes, newId } from "../../services/platform/domain/ids.ts";
import type { Caller } from "../../services/platform/mysql/caller.ts";
import { openPool, type Pool, type RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import type { Actor } from "../../services/preset/domain/change.ts";
import type { NewVersion } from "../../services/preset/domain/new-version.ts";
import type { ServedPreset } from "../../services/preset/domain/preset.ts";
import type { PresetUpdate } from "../../services/preset/domain/update-preset.ts";
import { PresetReader } from "../../services/preset/store/preset-reader.ts";
import { updatePreset } from "../../services/preset/store/update-preset.ts";
import { VersionWriter } from "../../services/preset/store/version-writer.ts";
import { isSharded } from "./database.ts";
import { createPresetDatabase } from "./preset-database.ts";

export const actor: Actor = { userId: "user_000000000000000000000001", keyId: "019a0000-0000-7000-8000-000000000001" };

/** The store of the preset service with a database of its own, without a service around it. */
export interface TestStore {
  readonly pool: Pool;
  readonly reader: PresetReader;
  readonly url: string;
  create(workspaceId: string, slug: string, overrides?: Partial<NewVersion>): Promise<ServedPreset>;
  update(workspaceId: string, slug: string, fields: Partial<PresetUpdate>): Promise<ServedPreset>;
  /** The revisions in a preset's change log, oldest first. */
  revisions(preset: ServedPreset): Promise<number[]>;
  versions(preset: ServedPreset): Promise<{ readonly version: number; readonly id: string }[]>;
  close(): Promise<void>;
}

export async function openTestStore(): Promise<TestStore> {
  const database = await createPresetDatabase();
  const pool = openPool(database.url, 8);
  const writer = new VersionWriter(pool, { batchByWorkspace: isSharded });
  const numbersOf = async (sql: string, { workspaceId, id }: ServedPreset): Promise<RowDataPacket[]> => {
    const [rows] = await pool.execute<RowDataPacket[]>(sql, [idToBytes(workspaceId), idToBytes(id)]);
    return rows;
  };
  return {
    pool,
    reader: new PresetReader(pool, { batchByWorkspace: isSharded }),
    url: database.url,
    create: (workspaceId, slug, overrides) =>
      writer.createVersion(creation(workspaceId, slug, overrides), callerWithTime()),
    update: (workspaceId, slug, fields) =>
      updatePreset(pool, workspaceId, actor, presetUpdate(slug, fields), callerWithTime()),
    revisions: async (preset) => {
      const order = "WHERE workspace_id = ? AND preset_id = ? ORDER BY revision";
      return (await numbersOf(`SELECT revision FROM preset_changes ${order}`, preset)).map((row) => row.revision);
    },
    versions: async (preset) => {
      const order = "WHERE workspace_id = ? AND preset_id = ? ORDER BY version";
      const rows = await numbersOf(`SELECT version, id FROM preset_versions ${order}`, preset);
      return rows.map(({ version, id }) => ({ version, id: idFromBytes(id) }));
    },
    close: async () => {
      await pool.end();
      await database.drop();
    },
  };
}

export function creation(workspaceId: string, slug: string, overrides: Partial<NewVersion> = {}): NewVersion {
  const configJson = overrides.configJson ?? '{"model":"m","temperature":1.0}';
  return {
    workspaceId,
    slug,
    configJson,
    systemPrompt: undefined,
    dialect: undefined,
    actor,
    requestId: randomUUID(),
    isNamedByCaller: false,
    requestDigest: hash("sha256", slug + configJson, "buffer"),
    etags: [],
    ...overrides,
  };
}

export function presetUpdate(slug: string, fields: Partial<PresetUpdate>): PresetUpdate {
  return { slug, etags: [], requestId: newId(), ...fields };
}

/** A caller with plenty of time. */
export function callerWithTime(ms = 30_000): Caller {
  return { deadlineMs: deadlineIn(ms), isCanceled: () => false };
}

/** By the monotonic clock. */
export function deadlineIn(ms = 30_000): number {
  return monotonicMs() + ms;
}

/** 1 to `count`. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
