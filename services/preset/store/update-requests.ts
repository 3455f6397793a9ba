import { requestIdReused } from "../../platform/domain/domain-error.ts";
import { idToBytes } from "../../platform/domain/ids.ts";
import { requestRetentionMs } from "../../platform/domain/limits.ts";
import { isDuplicateKey } from "../../platform/mysql/errors.ts";
import type { Executor, PoolConnection, RowDataPacket } from "../../platform/mysql/pool.ts";
import { repeated } from "../../platform/mysql/text-by-count.ts";
import type { NewVersion } from "../domain/new-version.ts";
import type { Preset } from "../domain/preset.ts";
import { digestOf, type PresetUpdate } from "../domain/update-preset.ts";
import { updatedStateFromJson, updatedStateToJson } from "./preset-state.ts";

/** The preset as the request left it, if it was already carried out. */
export async function findUpdated(
  connection: PoolConnection,
  preset: Preset,
  update: PresetUpdate,
): Promise<Preset | undefined> {
  const request = [idToBytes(preset.workspaceId), update.requestId];
  const [rows] = await connection.execute<RowDataPacket[]>(
    "SELECT request_digest, preset_state FROM preset_updates WHERE workspace_id = ? AND request_id = ?",
    request,
  );
  const [row] = rows;
  if (row) {
    if (!row.request_digest.equals(digestOf(update))) throw requestIdReused();
    return { ...preset, ...updatedStateFromJson(row.preset_state) };
  }
  // A request id identifies one request, of whichever kind.
  const [versions] = await connection.execute<RowDataPacket[]>(
    "SELECT version FROM preset_versions WHERE workspace_id = ? AND request_id = ?",
    request,
  );
  if (versions.length > 0) throw requestIdReused();
  return undefined;
}

/**
 * Stores the request and answer of an update; or returns the first answer, if it was stored since we looked. A retry of
 * an update waits for the preset's row, but on Galera only on the same node.
 */
export async function insertUpdate(
  connection: PoolConnection,
  preset: Preset,
  update: PresetUpdate,
): Promise<Preset | undefined> {
  try {
    await connection.execute(
      `INSERT INTO preset_updates (workspace_id, request_id, request_digest, preset_state, created_at)
        VALUES (?, ?, ?, ?, ?)`,
      [idToBytes(preset.workspaceId), update.requestId, digestOf(update), updatedStateToJson(preset), new Date()],
    );
    return undefined;
  } catch (error) {
    const first = isDuplicateKey(error) ? await findUpdated(connection, preset, update) : undefined;
    if (!first) throw error;
    return first;
  }
}

/**
 * One update in this many deletes old ones, at almost no cost; several of them, so that they go faster than they come.
 */
const deletesOneIn = 40;
const deletedMax = 100;

/**
 * Occasionally deletes update requests of a workspace that are too old to be retried. Outside the transaction of an
 * update, so that none waits for another one's deletion. Nobody awaits it, and whatever fails is left to the next one.
 */
export function deleteSomeOldUpdates(executor: Executor, workspaceId: string): void {
  if (Math.random() * deletesOneIn >= 1) return;
  executor
    .execute(`DELETE FROM preset_updates WHERE workspace_id = ? AND created_at <= ? LIMIT ${deletedMax}`, [
      idToBytes(workspaceId),
      new Date(Date.now() - requestRetentionMs),
    ])
    .catch(() => {});
}

/** Which of these creations have a request id that an update used. */
export async function findCreationsWithReusedIds(
  connection: PoolConnection,
  creations: readonly NewVersion[],
): Promise<ReadonlySet<NewVersion>> {
  const named = creations.filter(({ isNamedByCaller }) => isNamedByCaller);
  if (named.length === 0) return new Set();
  const [rows] = await connection.execute<RowDataPacket[]>(
    `SELECT workspace_id, request_id FROM preset_updates
      WHERE ${repeated(named.length, "(workspace_id = ? AND request_id = ?)", " OR ")}`,
    named.flatMap(({ workspaceId, requestId }) => [idToBytes(workspaceId), requestId]),
  );
  return new Set(
    named.filter(({ workspaceId, requestId }) =>
      rows.some(
        (row) => row.workspace_id.equals(idToBytes(workspaceId)) && row.request_id.toString("latin1") === requestId,
      ),
    ),
  );
}
