import { deadlineExceeded } from "../../platform/domain/domain-error.ts";
import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Pool, PoolConnection, RowDataPacket } from "../../platform/mysql/pool.ts";
import { inTransaction } from "../../platform/mysql/transaction.ts";
import { type Deadline, hasGivenUp } from "../../platform/process/deadline.ts";
import { type Actor, type FieldChange, updateChange } from "../domain/change.ts";
import { presetNotFound, requestIdReused, versionNotFound } from "../domain/errors.ts";
import type { Preset, PresetVersion, ServedPreset } from "../domain/preset.ts";
import { applyUpdate, isMadeBy, type PresetUpdate } from "../domain/update-preset.ts";
import { insertChanges } from "./insert-changes.ts";
import {
  type PresetRow,
  presetColumns,
  presetFromRow,
  type VersionRow,
  versionColumns,
  versionFromRow,
} from "./preset-rows.ts";
import { updatePresets } from "./write-presets.ts";

/** How many of the newest changes are searched for a retry. */
const replayRevisionsMax = 1_000;

/** Makes all changes of an update with their entry in the change log, or none. After an error nothing is stored. */
export function updatePreset(
  pool: Pool,
  workspaceId: string,
  actor: Actor,
  update: PresetUpdate,
  caller: Deadline,
): Promise<ServedPreset> {
  return inTransaction(pool, async (connection) => {
    const before = await lockPreset(connection, workspaceId, update.slug);
    if (!before) throw presetNotFound(update.slug);
    const made = await findChangedFields(connection, before, update.requestId);
    if (made) {
      if (!isMadeBy(update, made)) throw requestIdReused();
      // A retry of a change whose answer was lost: the preset is answered as it is, and nothing is changed.
      return getServedPreset(connection, before);
    }

    const { preset, fields } = applyUpdate(before, update, new Date());
    const served = await getServedPreset(connection, preset);
    if (fields.length === 0) return served;
    const change = updateChange(preset, fields, actor);
    await updatePresets(connection, [served]);
    await insertChanges(connection, [{ preset, change, requestId: update.requestId }]);
    // The lock may have been waited for: who was not answered in time must not find the change later.
    if (hasGivenUp(caller)) throw deadlineExceeded();
    return served;
  });
}

async function lockPreset(connection: PoolConnection, workspaceId: string, slug: string): Promise<Preset | undefined> {
  const [rows] = await connection.execute<PresetRow[]>(
    `SELECT ${presetColumns} FROM presets p WHERE p.workspace_id = ? AND p.slug = ? FOR UPDATE`,
    [idToBytes(workspaceId), slug],
  );
  return rows[0] && presetFromRow(rows[0]);
}

/** What the request changed, where it has been here before. */
async function findChangedFields(
  connection: PoolConnection,
  preset: Preset,
  requestId: string,
): Promise<readonly FieldChange[] | undefined> {
  const [rows] = await connection.execute<RowDataPacket[]>(
    `SELECT fields FROM preset_changes
      WHERE workspace_id = ? AND preset_id = ? AND revision > ? AND request_id = ? LIMIT 1`,
    [idToBytes(preset.workspaceId), idToBytes(preset.id), preset.revision - replayRevisionsMax, requestId],
  );
  return rows[0] && JSON.parse(rows[0].fields);
}

/** The preset with the version that its designated number names. */
async function getServedPreset(connection: PoolConnection, preset: Preset): Promise<ServedPreset> {
  const [rows] = await connection.execute<VersionRow[]>(
    `SELECT ${versionColumns} FROM preset_versions v WHERE v.workspace_id = ? AND v.preset_id = ? AND v.version = ?`,
    [idToBytes(preset.workspaceId), idToBytes(preset.id), preset.designatedNumber],
  );
  const [row] = rows;
  if (!row) throw versionNotFound(preset.slug, preset.designatedNumber);
  const designatedVersion: PresetVersion = versionFromRow(row);
  return { ...preset, designatedVersionId: idFromBytes(row.version_id), designatedVersion };
}
