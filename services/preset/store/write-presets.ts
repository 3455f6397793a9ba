import { idToBytes } from "../../platform/domain/ids.ts";
import type { Statement } from "../../platform/mysql/pool.ts";
import { cachedByCount, repeated } from "../../platform/mysql/text-by-count.ts";
import type { Preset } from "../domain/preset.ts";

/** In the order of the values. */
const columns = [
  "workspace_id",
  "slug",
  "id",
  "name",
  "description",
  "status",
  "status_updated_at",
  "creator_user_id",
  "latest_version",
  "designated_version",
  "designated_version_id",
  "revision",
  "created_at",
  "updated_at",
] as const;

const fixedColumns: readonly string[] = [
  "workspace_id",
  "slug",
  "id",
  "creator_user_id",
  "created_at",
] satisfies (typeof columns)[number][];

const updates = columns
  .filter((column) => !fixedColumns.includes(column))
  .map((column) => `${column} = VALUES(${column})`)
  .join(", ");

const insert = cachedByCount(
  (count) =>
    `INSERT INTO presets (${columns.join(", ")}) VALUES ${repeated(count, `(${repeated(columns.length, "?")})`)}`,
);

const update = cachedByCount((count) => `${insert(count)} ON DUPLICATE KEY UPDATE ${updates}`);

function valuesOf(presets: readonly Preset[]) {
  return presets.flatMap((preset) => [
    idToBytes(preset.workspaceId),
    preset.slug,
    idToBytes(preset.id),
    preset.name,
    preset.description ?? null,
    preset.status,
    preset.statusUpdatedAt ?? null,
    preset.creatorUserId,
    preset.latestVersion,
    preset.designatedNumber,
    idToBytes(preset.designatedVersionId),
    preset.revision,
    preset.createdAt,
    preset.updatedAt,
  ]);
}

export function insertingPresets(presets: readonly Preset[]): Statement {
  return { sql: insert(presets.length), values: valuesOf(presets) };
}

/**
 * Every row must exist and be locked, so that nothing is inserted: this is how a single statement gives many rows
 * different values.
 */
export function updatingPresets(presets: readonly Preset[]): Statement {
  return { sql: update(presets.length), values: valuesOf(presets) };
}
