import { DomainError } from "../../platform/domain/domain-error.ts";
import { idToBytes } from "../../platform/domain/ids.ts";
import { isDuplicateKey } from "../../platform/mysql/errors.ts";
import type { PoolConnection } from "../../platform/mysql/pool.ts";
import { addVersion } from "../domain/add-version.ts";
import { creationChange } from "../domain/change.ts";
import { requestIdReused } from "../domain/errors.ts";
import type { NewVersion } from "../domain/new-version.ts";
import { type Outcome, type Preset, presetKey, type ServedPreset } from "../domain/preset.ts";
import { findReplay } from "./find-replay.ts";
import { insertChanges, type NewChange } from "./insert-changes.ts";
import { updatePresetCounts } from "./preset-counts.ts";
import { type PresetRow, presetColumns, presetFromRow } from "./preset-rows.ts";
import { presetStateToJson } from "./preset-state.ts";
import { findUsedByUpdates } from "./update-requests.ts";
import { insertPresets, updatePresets } from "./write-presets.ts";

/** At least one of the request ids is stored already: it is a retry. */
export class RequestSeen extends Error {
  /** What each creation was answered before; undefined for those that are new. */
  readonly replays: readonly (Outcome | undefined)[];

  constructor(replays: readonly (Outcome | undefined)[]) {
    super();
    this.replays = replays;
  }
}

/** With NOWAIT, a row that someone else has locked fails the statement at once. */
export type RowLock = "FOR UPDATE" | "FOR UPDATE NOWAIT";

/** A version that is to be stored: what was asked for, and the preset as it leaves it. */
interface Addition {
  readonly creation: NewVersion;
  readonly preset: ServedPreset;
}

/**
 * Stores many creations within the caller's transaction and returns an outcome for each, in order.
 * Rows of `presets` are locked in key order, so that two processes never wait for each other in a circle;
 * while a row is locked, its version numbers are given out in memory.
 */
export async function insertVersions(
  connection: PoolConnection,
  creations: readonly NewVersion[],
  lock: RowLock = "FOR UPDATE",
): Promise<Outcome[]> {
  const found = await lockPresets(connection, creations, lock);
  const usedByUpdates = await findUsedByUpdates(connection, creations);
  const now = new Date();
  /** Every preset of the batch as the last creation left it. */
  const presets = new Map(found);
  const additions: Addition[] = [];
  const changes: NewChange[] = [];
  const outcomes = creations.map((creation): Outcome => {
    if (usedByUpdates.has(creation)) return requestIdReused();
    const key = presetKey(creation);
    const before = presets.get(key);
    const outcome = addVersion(before, creation, now);
    if (outcome instanceof DomainError) return outcome;
    presets.set(key, outcome);
    additions.push({ creation, preset: outcome });
    changes.push({ preset: outcome, change: creationChange(before, outcome, creation.actor) });
    return outcome;
  });

  if (additions.length > 0) {
    const written = [...new Set(additions.map(({ creation }) => presetKey(creation)))].sort();
    const made = written.filter((key) => !found.has(key)).map((key) => presets.get(key) as Preset);
    const changed = written.filter((key) => found.has(key)).map((key) => presets.get(key) as Preset);
    if (made.length > 0) await insertPresets(connection, made);
    await insertVersionRows(connection, additions).catch(async (error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      // Which index it was is not asked: whether a request id is stored can be seen. Through this connection for sure.
      const replays = await Promise.all(creations.map((creation) => findReplay(connection, creation)));
      throw replays.some((replay) => replay !== undefined) ? new RequestSeen(replays) : error;
    });
    await insertChanges(connection, changes);
    if (changed.length > 0) await updatePresets(connection, changed);
    if (made.length > 0) await updatePresetCounts(connection, made);
  }
  return Promise.all(
    outcomes.map((outcome, index) =>
      outcome instanceof DomainError ? replayOrRefusal(connection, creations[index] as NewVersion, outcome) : outcome,
    ),
  );
}

/** A retry of what was stored before the preset was archived is no new version: it gets its first answer. */
async function replayOrRefusal(
  connection: PoolConnection,
  creation: NewVersion,
  refusal: DomainError,
): Promise<Outcome> {
  return (await findReplay(connection, creation)) ?? refusal;
}

async function lockPresets(
  connection: PoolConnection,
  creations: readonly NewVersion[],
  lock: RowLock,
): Promise<ReadonlyMap<string, Preset>> {
  const keys = new Map(creations.map((creation) => [presetKey(creation), creation]));
  // The forced index makes this a walk over single keys, in key order, also while the table is small:
  // a scan would wait for the locks of rows that are none of ours.
  const [rows] = await connection.execute<PresetRow[]>(
    `SELECT ${presetColumns} FROM presets p FORCE INDEX (PRIMARY)
      WHERE ${Array(keys.size).fill("(p.workspace_id = ? AND p.slug = ?)").join(" OR ")} ${lock}`,
    [...keys.values()].flatMap(({ workspaceId, slug }) => [idToBytes(workspaceId), slug]),
  );
  return new Map(rows.map((row) => presetFromRow(row)).map((preset) => [presetKey(preset), preset]));
}

async function insertVersionRows(connection: PoolConnection, additions: readonly Addition[]): Promise<void> {
  await connection.execute(
    `INSERT INTO preset_versions (workspace_id, preset_id, version, id, config, system_prompt, creator_id, request_id,
      request_digest, revision, preset_state, created_at, dialect)
      VALUES ${Array(additions.length).fill("(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").join(", ")}`,
    additions.flatMap(({ creation, preset }) => [
      idToBytes(preset.workspaceId),
      idToBytes(preset.id),
      preset.designatedNumber,
      idToBytes(preset.designatedVersionId),
      creation.configJson,
      creation.systemPrompt ?? null,
      creation.actor.userId,
      creation.requestId,
      creation.requestDigest,
      preset.revision,
      presetStateToJson(preset),
      preset.updatedAt,
      creation.dialect ?? null,
    ]),
  );
}
