import { DomainError } from "../../platform/domain-error.ts";
import { idToBytes, newId } from "../../platform/ids.ts";
import { isDuplicateKey } from "../../platform/mysql/errors.ts";
import type { PoolConnection } from "../../platform/mysql/pool.ts";
import { creationChange } from "../domain/change.ts";
import { presetArchived } from "../domain/errors.ts";
import type { NewVersion } from "../domain/new-version.ts";
import type { Outcome, Preset, ServedPreset } from "../domain/preset.ts";
import { findReplay } from "./find-replay.ts";
import { type ChangeRow, insertChanges } from "./insert-changes.ts";
import { countPresets, insertPresets, updatePresets } from "./insert-presets.ts";
import { type PresetRow, presetColumns, presetFromRow } from "./preset-rows.ts";
import { presetStateJson } from "./preset-state.ts";

/** At least one of the request ids is stored already: it is a retry. */
export class RequestSeen extends Error {}

/** A version that is to be stored: what was asked for, and the preset as it leaves it. */
interface Addition {
  readonly creation: NewVersion;
  readonly preset: ServedPreset;
}

/**
 * Stores many creations within the caller's transaction and returns an outcome for each, in order.
 * Rows of `presets` are locked in key order, so that two processes never wait for each other in a circle;
 * while a row is locked, its version numbers are given out here, in memory.
 */
export async function insertVersions(connection: PoolConnection, creations: readonly NewVersion[]): Promise<Outcome[]> {
  const found = await lockPresets(connection, creations);
  const now = new Date();
  /** Every preset of the batch as the last creation left it. */
  const presets = new Map(found);
  const additions: Addition[] = [];
  const changes: ChangeRow[] = [];
  const outcomes = creations.map((creation): Outcome => {
    const key = presetKey(creation);
    const before = presets.get(key);
    if (before?.status === "archived") return presetArchived(creation.slug);
    const preset = withNextVersion(before ?? newPreset(creation, now), creation, now);
    presets.set(key, preset);
    additions.push({ creation, preset });
    changes.push({ preset, change: creationChange(before, preset, creation.actor) });
    return preset;
  });

  if (additions.length > 0) {
    const written = [...new Set(additions.map(({ creation }) => presetKey(creation)))].sort();
    const made = written.filter((key) => !found.has(key)).map((key) => presets.get(key) as Preset);
    const changed = written.filter((key) => found.has(key)).map((key) => presets.get(key) as Preset);
    if (made.length > 0) await insertPresets(connection, made);
    await insertVersionRows(connection, additions);
    await insertChanges(connection, changes);
    if (changed.length > 0) await updatePresets(connection, changed);
    if (made.length > 0) await countPresets(connection, made);
  }
  return Promise.all(
    outcomes.map((outcome, index) => outcomeOfRefusal(connection, outcome, creations[index] as NewVersion)),
  );
}

/** One string for (workspace, slug): a slug holds no slash. */
export function presetKey({ workspaceId, slug }: { readonly workspaceId: string; readonly slug: string }): string {
  return `${workspaceId}/${slug}`;
}

/** A retry of what was stored before the preset was archived is no new version: it gets its first answer. */
async function outcomeOfRefusal(connection: PoolConnection, outcome: Outcome, creation: NewVersion): Promise<Outcome> {
  return outcome instanceof DomainError ? ((await findReplay(connection, creation)) ?? outcome) : outcome;
}

async function lockPresets(
  connection: PoolConnection,
  creations: readonly NewVersion[],
): Promise<ReadonlyMap<string, Preset>> {
  const keys = new Map(creations.map((creation) => [presetKey(creation), creation]));
  // The forced index makes this a walk over single keys, in key order, also while the table is small:
  // a scan would wait for the locks of rows that are none of ours.
  const [rows] = await connection.execute<PresetRow[]>(
    `SELECT ${presetColumns} FROM presets p FORCE INDEX (PRIMARY)
      WHERE ${Array(keys.size).fill("(p.workspace_id = ? AND p.slug = ?)").join(" OR ")} FOR UPDATE`,
    [...keys.values()].flatMap(({ workspaceId, slug }) => [idToBytes(workspaceId), slug]),
  );
  return new Map(rows.map((row) => presetFromRow(row)).map((preset) => [presetKey(preset), preset]));
}

/** A preset before its first version. */
function newPreset({ workspaceId, slug, actor }: NewVersion, now: Date): Preset {
  return {
    id: newId(),
    workspaceId,
    slug,
    name: slug,
    description: undefined,
    status: "active",
    statusUpdatedAt: undefined,
    creatorUserId: actor.userId,
    createdAt: now,
    updatedAt: now,
    latestVersion: 0,
    designatedNumber: 0,
    designatedVersionId: "",
    revision: 0,
  };
}

function withNextVersion(preset: Preset, creation: NewVersion, now: Date): ServedPreset {
  const id = newId();
  const version = preset.latestVersion + 1;
  // The clock of the process that wrote last may run ahead of ours.
  const createdAt = now > preset.updatedAt ? now : preset.updatedAt;
  return {
    ...preset,
    updatedAt: createdAt,
    latestVersion: version,
    designatedNumber: version,
    designatedVersionId: id,
    revision: preset.revision + 1,
    designatedVersion: {
      id,
      presetId: preset.id,
      version,
      configJson: creation.configJson,
      systemPrompt: creation.systemPrompt,
      creatorId: creation.actor.userId,
      createdAt,
    },
  };
}

async function insertVersionRows(connection: PoolConnection, additions: readonly Addition[]): Promise<void> {
  try {
    await connection.execute(
      `INSERT INTO preset_versions (workspace_id, preset_id, version, id, config, system_prompt, creator_id, request_id,
        request_digest, revision, preset_state, created_at)
        VALUES ${Array(additions.length).fill("(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").join(", ")}`,
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
        presetStateJson(preset),
        preset.updatedAt,
      ]),
    );
  } catch (error) {
    throw isDuplicateKey(error, "preset_versions_request") ? new RequestSeen() : error;
  }
}
