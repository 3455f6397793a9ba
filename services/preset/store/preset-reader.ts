import { Gather } from "../../platform/batching/gather.ts";
import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import { monotonicMs } from "../../platform/process/clock.ts";
import { type PresetKey, type PresetVersion, presetKey, type ServedPreset } from "../domain/preset.ts";
import {
  type PresetRow,
  presetColumns,
  presetFromRow,
  type VersionRow,
  versionColumns,
  versionFromRow,
} from "./preset-rows.ts";

interface VersionKey extends PresetKey {
  readonly version: number;
}

const batchMax = 64;
const batchesMax = 2;
/** A read that the database cannot answer within this time is a 503. */
const retryForMs = 3_000;

/** Point reads; concurrent ones are gathered into one statement. */
export class PresetReader {
  readonly #presets: Gather<PresetKey, ServedPreset>;
  readonly #versions: Gather<VersionKey, PresetVersion>;

  constructor(pool: Pool) {
    const options = { batchMax, batchesMax };
    this.#presets = new Gather({ ...options, keyOf: presetKey, find: (keys) => findPresets(pool, keys) });
    this.#versions = new Gather({ ...options, keyOf: versionKey, find: (keys) => findVersions(pool, keys) });
  }

  findPreset(workspaceId: string, slug: string): Promise<ServedPreset | undefined> {
    return this.#presets.find({ workspaceId, slug });
  }

  findVersion(workspaceId: string, slug: string, version: number): Promise<PresetVersion | undefined> {
    return this.#versions.find({ workspaceId, slug, version });
  }
}

function versionKey(key: VersionKey): string {
  return `${presetKey(key)}/${key.version}`;
}

async function findPresets(pool: Pool, keys: readonly PresetKey[]): Promise<Map<string, ServedPreset>> {
  const [rows] = await retryTransient(monotonicMs() + retryForMs, () =>
    pool.execute<(PresetRow & VersionRow)[]>(
      `SELECT ${presetColumns}, ${versionColumns} FROM presets p
        JOIN preset_versions v ON v.workspace_id = p.workspace_id AND v.preset_id = p.id AND v.version = p.designated_version
        WHERE ${Array(keys.length).fill("(p.workspace_id = ? AND p.slug = ?)").join(" OR ")}`,
      keys.flatMap(({ workspaceId, slug }) => [idToBytes(workspaceId), slug]),
    ),
  );
  const presets = rows.map((row) => ({ ...presetFromRow(row), designatedVersion: versionFromRow(row) }));
  return new Map(presets.map((preset) => [presetKey(preset), preset]));
}

async function findVersions(pool: Pool, keys: readonly VersionKey[]): Promise<Map<string, PresetVersion>> {
  // A union and not an OR: with that, where the versions differ, every version of each preset would be read.
  const findOne = `SELECT p.workspace_id, p.slug, ${versionColumns} FROM presets p
    JOIN preset_versions v ON v.workspace_id = p.workspace_id AND v.preset_id = p.id
    WHERE p.workspace_id = ? AND p.slug = ? AND v.version = ?`;
  const [rows] = await retryTransient(monotonicMs() + retryForMs, () =>
    pool.execute<(VersionRow & Pick<PresetRow, "workspace_id" | "slug">)[]>(
      Array(keys.length).fill(findOne).join(" UNION ALL "),
      keys.flatMap(({ workspaceId, slug, version }) => [idToBytes(workspaceId), slug, version]),
    ),
  );
  return new Map(
    rows.map((row) => {
      const { workspace_id, slug, version } = row;
      return [versionKey({ workspaceId: idFromBytes(workspace_id), slug, version }), versionFromRow(row)];
    }),
  );
}
