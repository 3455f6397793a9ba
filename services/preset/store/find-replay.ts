import { idToBytes } from "../../platform/ids.ts";
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

interface ReplayRow extends PresetRow, VersionRow {
  readonly request_digest: Buffer;
}

/** What a creation was answered before, where its request id is stored already. */
export async function findReplay(executor: Executor, creation: NewVersion): Promise<Outcome | undefined> {
  const [rows] = await executor.execute<ReplayRow[]>(
    `SELECT ${presetColumns}, ${versionColumns}, v.request_digest
      FROM preset_versions v JOIN presets p ON p.workspace_id = v.workspace_id AND p.id = v.preset_id
      WHERE v.workspace_id = ? AND v.request_id = ?`,
    [idToBytes(creation.workspaceId), creation.requestId],
  );
  const [row] = rows;
  if (!row) return undefined;
  if (!row.request_digest.equals(creation.requestDigest)) return requestIdReused();
  const designatedVersion = versionFromRow(row);
  // The preset as the first answer showed it: its newest version was this one.
  return {
    ...presetFromRow(row),
    updatedAt: designatedVersion.createdAt,
    designatedVersionId: designatedVersion.id,
    designatedVersion,
  };
}
