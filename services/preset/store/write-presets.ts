import { idToBytes } from "../../platform/domain/ids.ts";
import type { Statement } from "../../platform/mysql/pool.ts";
import { cachedByCount, repeated } from "../../platform/mysql/text-by-count.ts";
import type { Preset } from "../domain/preset.ts";

const insert = cachedByCount(
  (
    count,
  ) => `INSERT INTO presets (workspace_id, slug, id, name, description, status, status_updated_at, creator_user_id,
    latest_version, designated_version, designated_version_id, revision, created_at, updated_at)
    VALUES ${repeated(count, "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")}`,
);

const update = cachedByCount(
  (count) => `${insert(count)} ON DUPLICATE KEY UPDATE name = VALUES(name), description = VALUES(description),
    status = VALUES(status), status_updated_at = VALUES(status_updated_at), latest_version = VALUES(latest_version),
    designated_version = VALUES(designated_version), designated_version_id = VALUES(designated_version_id),
    revision = VALUES(revision), updated_at = VALUES(updated_at)`,
);

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
