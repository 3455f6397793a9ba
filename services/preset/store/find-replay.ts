import { idToBytes } from "../../platform/domain/ids.ts";
import type { Executor } from "../../platform/mysql/pool.ts";
import { requestIdReused } from "../domain/errors.ts";
import type { NewVersion } from "../domain/new-version.ts";
import type { Outcome } from "../domain/preset.ts";
import {
  type PresetRow,
  presetColumns,
  presetFromRow,
  type VersionRow,
  versionColumns,
  versionFromRow,
} from "./preset-rows.ts";
import { presetStateFromJson } from "./preset-state.ts";

interface ReplayRow extends PresetRow, VersionRow {
  readonly request_digest: Buffer;
  readonly revision_then: number;
  readonly preset_state: string | null;
}

/** What a creation was answered before, where its request id is stored already. */
export async function findReplay(executor: Executor, creation: NewVersion): Promise<Outcome | undefined> {
  const [rows] = await executor.execute<ReplayRow[]>(
    `SELECT ${presetColumns}, ${versionColumns}, v.request_digest, v.revision AS revision_then, v.preset_state
      FROM preset_versions v JOIN presets p ON p.workspace_id = v.workspace_id AND p.id = v.preset_id
      WHERE v.workspace_id = ? AND v.request_id = ?`,
    [idToBytes(creation.workspaceId), creation.requestId],
  );
  const [row] = rows;
  if (!row) return undefined;
  const version = versionFromRow(row);
  if (!row.request_digest.equals(creation.requestDigest)) return requestIdReused();
  if (version.dialect && creation.dialect && version.dialect !== creation.dialect) return requestIdReused();
  // The preset as the first answer showed it, whatever has become of it since.
  return {
    ...presetFromRow(row),
    ...presetStateFromJson(row.preset_state, row.slug),
    updatedAt: version.createdAt,
    latestVersion: version.version,
    designatedNumber: version.version,
    designatedVersionId: version.id,
    revision: row.revision_then,
    designatedVersion: version,
  };
}
