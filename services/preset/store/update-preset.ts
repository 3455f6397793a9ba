import { deadlineExceeded } from "../../platform/domain/domain-error.ts";
import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Caller } from "../../platform/mysql/caller.ts";
import type { Pool, PoolConnection } from "../../platform/mysql/pool.ts";
import { inTransaction } from "../../platform/mysql/transaction.ts";
import { hasGivenUp } from "../../platform/time/deadline.ts";
import { type Actor, updateChange } from "../domain/change.ts";
import { presetNotFound, versionNotFound } from "../domain/errors.ts";
import type { Preset, PresetVersion, ServedPreset } from "../domain/preset.ts";
import { applyUpdate, type PresetUpdate } from "../domain/update-preset.ts";
import { insertingChanges } from "./insert-changes.ts";
import {
  type PresetRow,
  presetColumns,
  presetFromRow,
  type VersionRow,
  versionColumns,
  versionFromRow,
} from "./preset-rows.ts";
import { deleteSomeOldUpdates, findUpdated, insertUpdate } from "./update-requests.ts";
import { updatingPresets } from "./write-presets.ts";

/**
 * Makes all changes of an update together with their change log entry, or none. A request id that was stored before
 * returns the first answer. Nothing is begun or stored for a caller that has gone.
 */
export async function updatePreset(
  pool: Pool,
  workspaceId: string,
  actor: Actor,
  update: PresetUpdate,
  caller: Caller,
): Promise<ServedPreset> {
  const answer = await inTransaction(
    pool,
    async (connection) => {
      // Getting the connection, and the lock, may have taken time.
      checkStillWaiting(caller);
      const before = await lockPreset(connection, workspaceId, update.slug);
      checkStillWaiting(caller);
      if (!before) throw presetNotFound(update.slug);
      const updated = await findUpdated(connection, before, update);
      if (updated) return getServedPreset(connection, updated);

      const { preset, fields } = applyUpdate(before, update, new Date());
      const served = await getServedPreset(connection, preset);
      // First: if it turns out to be a duplicate, nothing else has been written.
      const first = await insertUpdate(connection, preset, update);
      if (first) return getServedPreset(connection, first);
      if (fields.length > 0) {
        const change = { preset, change: updateChange(preset, fields, actor) };
        await connection.executeAll([updatingPresets([served]), insertingChanges([change])]);
      }
      checkStillWaiting(caller);
      return served;
    },
    caller,
  );
  deleteSomeOldUpdates(pool, workspaceId);
  return answer;
}

/** A caller that was not answered in time must not find the change later. */
function checkStillWaiting(caller: Caller): void {
  if (hasGivenUp(caller)) throw deadlineExceeded();
}

async function lockPreset(connection: PoolConnection, workspaceId: string, slug: string): Promise<Preset | undefined> {
  const [rows] = await connection.execute<PresetRow[]>(
    `SELECT ${presetColumns} FROM presets p WHERE p.workspace_id = ? AND p.slug = ? FOR UPDATE`,
    [idToBytes(workspaceId), slug],
  );
  return rows[0] && presetFromRow(rows[0]);
}

/** The preset with its designated version. */
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
