import { requestIdReused } from "../../platform/domain/domain-error.ts";
import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Executor } from "../../platform/mysql/pool.ts";
import { cachedByCount, repeated } from "../../platform/mysql/text-by-count.ts";
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
  readonly request_id: Buffer;
  readonly request_digest: Buffer;
  readonly revision_then: number;
  readonly preset_state: string | null;
}

// A union and not an OR: that way each is looked up by both columns, whatever the optimizer makes of a list.
const select = cachedByCount((count) =>
  repeated(
    count,
    `SELECT ${presetColumns}, ${versionColumns}, v.request_id, v.request_digest, v.revision AS revision_then, v.preset_state
      FROM preset_versions v JOIN presets p ON p.workspace_id = v.workspace_id AND p.id = v.preset_id
      WHERE v.workspace_id = ? AND v.request_id = ?`,
    " UNION ALL ",
  ),
);

/** The earlier answers to those creations whose request id is already stored. */
export type Replays = ReadonlyMap<NewVersion, Outcome>;

/** In one statement, because the caller holds the row locks of their presets meanwhile. */
export async function findReplays(executor: Executor, creations: readonly NewVersion[]): Promise<Replays> {
  const replays = new Map<NewVersion, Outcome>();
  if (creations.length === 0) return replays;
  const [rows] = await executor.execute<ReplayRow[]>(
    select(creations.length),
    creations.flatMap(({ workspaceId, requestId }) => [idToBytes(workspaceId), requestId]),
  );
  const rowByRequest = new Map(
    rows.map((row) => [requestKey(idFromBytes(row.workspace_id), row.request_id.toString("latin1")), row]),
  );
  for (const creation of creations) {
    const row = rowByRequest.get(requestKey(creation.workspaceId, creation.requestId));
    if (row) replays.set(creation, outcomeFromRow(row, creation));
  }
  return replays;
}

function requestKey(workspaceId: string, requestId: string): string {
  return `${workspaceId}/${requestId}`;
}

function outcomeFromRow(row: ReplayRow, creation: NewVersion): Outcome {
  const version = versionFromRow(row);
  if (!row.request_digest.equals(creation.requestDigest)) return requestIdReused();
  if (version.dialect && creation.dialect && version.dialect !== creation.dialect) return requestIdReused();
  // The preset as in the first answer, whatever has changed since.
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
