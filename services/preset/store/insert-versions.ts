import { DomainError, requestIdReused } from "../../platform/domain/domain-error.ts";
import { idToBytes } from "../../platform/domain/ids.ts";
import { isDuplicateKey } from "../../platform/mysql/errors.ts";
import type { PoolConnection, Statement } from "../../platform/mysql/pool.ts";
import { cachedByCount, repeated } from "../../platform/mysql/text-by-count.ts";
import { addVersion } from "../domain/add-version.ts";
import { creationChange } from "../domain/change.ts";
import type { NewVersion } from "../domain/new-version.ts";
import { type Outcome, type Preset, presetKey, type ServedPreset } from "../domain/preset.ts";
import { findReplays, type Replays } from "./find-replays.ts";
import { insertingChanges, type NewChange } from "./insert-changes.ts";
import { addingToCounts } from "./preset-counts.ts";
import { type PresetRow, presetColumns, presetFromRow } from "./preset-rows.ts";
import { presetStateToJson } from "./preset-state.ts";
import { findCreationsWithReusedIds } from "./update-requests.ts";
import { insertingPresets, updatingPresets } from "./write-presets.ts";

/** At least one of the request ids is already stored: it is a retry. */
export class DuplicateRequest extends Error {
  readonly replays: Replays;

  constructor(replays: Replays) {
    super();
    this.replays = replays;
  }
}

/** Another process has created one of the presets since we looked: look again. */
export class PresetCreatedElsewhere extends Error {}

/** With NOWAIT, a row that someone else has locked fails the statement at once. */
export type RowLock = "FOR UPDATE" | "FOR UPDATE NOWAIT";

/** A version to be stored: the request, the resulting preset, and the change log entry. */
interface Addition extends NewChange {
  readonly creation: NewVersion;
  readonly preset: ServedPreset;
}

/** What to write for a batch, and the outcome of each creation once that is done. */
interface Plan {
  readonly outcomes: readonly Outcome[];
  readonly additions: readonly Addition[];
  /** New presets, and existing ones, each as its last creation leaves it; in key order. */
  readonly created: readonly Preset[];
  readonly changed: readonly Preset[];
}

/**
 * Stores many creations in the caller's transaction and returns an outcome for each, in order. Rows of `presets` are
 * locked in key order, so that two processes never deadlock; while a row is locked, its version numbers are assigned in
 * memory.
 */
export async function insertVersions(
  connection: PoolConnection,
  creations: readonly NewVersion[],
  lock: RowLock = "FOR UPDATE",
): Promise<Outcome[]> {
  const found = await lockPresets(connection, creations, lock);
  const withReusedIds = await findCreationsWithReusedIds(connection, creations);
  const plan = planVersions(creations, found, withReusedIds);
  if (plan.additions.length > 0) {
    await connection.executeAll(statementsOf(plan)).catch(async (error: unknown) => {
      throw isDuplicateKey(error) ? await findDuplicate(connection, creations, plan.created, lock, error) : error;
    });
  }
  // A retry of something stored before the preset was archived is not a new version: it gets its first answer.
  const refused = creations.filter((_, index) => plan.outcomes[index] instanceof DomainError);
  const replays = await findReplays(connection, refused);
  return plan.outcomes.map((outcome, index) => replays.get(creations[index] as NewVersion) ?? outcome);
}

function planVersions(
  creations: readonly NewVersion[],
  found: ReadonlyMap<string, Preset>,
  withReusedIds: ReadonlySet<NewVersion>,
): Plan {
  const now = new Date();
  /** Every preset of the batch as the last creation left it. */
  const presets = new Map(found);
  const additions: Addition[] = [];
  const outcomes = creations.map((creation): Outcome => {
    if (withReusedIds.has(creation)) return requestIdReused();
    const key = presetKey(creation);
    const before = presets.get(key);
    const preset = addVersion(before, creation, now);
    if (preset instanceof DomainError) return preset;
    presets.set(key, preset);
    additions.push({ creation, preset, change: creationChange(before, preset, creation.actor) });
    return preset;
  });
  const written = [...new Set(additions.map(({ creation }) => presetKey(creation)))].sort();
  const created = written.filter((key) => !found.has(key)).map((key) => presets.get(key) as Preset);
  const changed = written.filter((key) => found.has(key)).map((key) => presets.get(key) as Preset);
  return { outcomes, additions, created, changed };
}

function statementsOf({ additions, created, changed }: Plan): Statement[] {
  return [
    ...(created.length > 0 ? [insertingPresets(created)] : []),
    // Before the versions: if it is refused, there is no version of ours that could be mistaken for that of an earlier
    // attempt.
    insertingChanges(additions),
    insertingVersions(additions),
    ...(changed.length > 0 ? [updatingPresets(changed)] : []),
    ...(created.length > 0 ? [addingToCounts(created)] : []),
  ];
}

/**
 * Why a unique index refused a row: DuplicateRequest, PresetCreatedElsewhere, or the database's own error. It does not depend on
 * which index it was: the rows that exist by now are visible through this connection.
 */
async function findDuplicate(
  connection: PoolConnection,
  creations: readonly NewVersion[],
  created: readonly Preset[],
  lock: RowLock,
  error: unknown,
): Promise<unknown> {
  const replays = await findReplays(connection, creations);
  if (replays.size > 0) return new DuplicateRequest(replays);
  const stored = await lockPresets(connection, creations, lock);
  // The existing row may be the one that our own first statement has just stored.
  const isStoredByOther = (preset: Preset) => (stored.get(presetKey(preset))?.id ?? preset.id) !== preset.id;
  return created.some(isStoredByOther) ? new PresetCreatedElsewhere() : error;
}

// The forced index makes this a walk over single keys, in key order, even while the table is small: a scan would wait
// for locks on unrelated rows.
const selecting = (lock: RowLock) =>
  cachedByCount(
    (count) => `SELECT ${presetColumns} FROM presets p FORCE INDEX (PRIMARY)
      WHERE ${repeated(count, "(p.workspace_id = ? AND p.slug = ?)", " OR ")} ${lock}`,
  );

const selectForUpdate = {
  "FOR UPDATE": selecting("FOR UPDATE"),
  "FOR UPDATE NOWAIT": selecting("FOR UPDATE NOWAIT"),
};

async function lockPresets(
  connection: PoolConnection,
  creations: readonly NewVersion[],
  lock: RowLock,
): Promise<ReadonlyMap<string, Preset>> {
  const keys = new Map(creations.map((creation) => [presetKey(creation), creation]));
  const [rows] = await connection.execute<PresetRow[]>(
    selectForUpdate[lock](keys.size),
    [...keys.values()].flatMap(({ workspaceId, slug }) => [idToBytes(workspaceId), slug]),
  );
  return new Map(rows.map((row) => presetFromRow(row)).map((preset) => [presetKey(preset), preset]));
}

const insert = cachedByCount(
  (count) => `INSERT INTO preset_versions (workspace_id, preset_id, version, id, config, system_prompt, creator_id,
    request_id, request_digest, revision, preset_state, created_at, dialect)
    VALUES ${repeated(count, "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")}`,
);

function insertingVersions(additions: readonly Addition[]): Statement {
  return {
    sql: insert(additions.length),
    values: additions.flatMap(({ creation, preset }) => [
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
  };
}
