import { DomainError } from "../../platform/domain-error.ts";
import { idToBytes, newId } from "../../platform/ids.ts";
import { isDuplicateKey } from "../../platform/mysql/errors.ts";
import type { PoolConnection } from "../../platform/mysql/pool.ts";
import { presetArchived } from "../domain/errors.ts";
import type { NewVersion } from "../domain/new-version.ts";
import type { Outcome, Preset, PresetVersion } from "../domain/preset.ts";
import { findReplay } from "./find-replay.ts";
import { type PresetRow, presetColumns, presetFromRow } from "./preset-rows.ts";

/** Another process has made one of the presets since we looked: look again. */
export class PresetAppeared extends Error {}

/** At least one of the request ids is stored already: it is a retry. */
export class RequestSeen extends Error {}

/** A preset that is being written: as it was found or made, and the versions that it gets. */
interface Draft {
  readonly isNew: boolean;
  preset: Preset;
  latestVersion: number;
}

interface LockedRow extends PresetRow {
  readonly latest_version: number;
}

/**
 * Stores many creations within the caller's transaction and returns an outcome for each, in order.
 * Rows of `presets` are locked in key order, so that two processes never wait for each other in a circle;
 * while a row is locked, its version numbers are given out here, in memory.
 */
export async function insertVersions(connection: PoolConnection, creations: readonly NewVersion[]): Promise<Outcome[]> {
  const drafts = await lockPresets(connection, creations);
  const now = new Date();
  const versions: [NewVersion, PresetVersion][] = [];
  const outcomes = creations.map((creation): Outcome => {
    const key = presetKey(creation);
    const draft = drafts.get(key) ?? newDraft(creation, now);
    if (draft.preset.status === "archived") return presetArchived(creation.slug);
    drafts.set(key, draft);
    const version = nextVersion(draft, creation, now);
    versions.push([creation, version]);
    draft.latestVersion = version.version;
    draft.preset = { ...draft.preset, updatedAt: version.createdAt, designatedVersionId: version.id };
    return { ...draft.preset, designatedVersion: version };
  });

  const written = [...drafts.values()].filter((draft) => draft.preset.status !== "archived").sort(byKey);
  const made = written.filter((draft) => draft.isNew);
  const changed = written.filter((draft) => !draft.isNew);
  if (made.length > 0) await insertPresets(connection, made);
  if (versions.length > 0) await insertVersionRows(connection, versions);
  if (changed.length > 0) await updatePresets(connection, changed);
  return Promise.all(
    outcomes.map((outcome, index) => outcomeOfRefusal(connection, outcome, creations[index] as NewVersion)),
  );
}

/** A retry of what was stored before the preset was archived is no new version: it gets its first answer. */
async function outcomeOfRefusal(connection: PoolConnection, outcome: Outcome, creation: NewVersion): Promise<Outcome> {
  return outcome instanceof DomainError ? ((await findReplay(connection, creation)) ?? outcome) : outcome;
}

/** One string for (workspace, slug): a slug holds no slash. */
export function presetKey({ workspaceId, slug }: { readonly workspaceId: string; readonly slug: string }): string {
  return `${workspaceId}/${slug}`;
}

function byKey(a: Draft, b: Draft): number {
  return presetKey(a.preset) < presetKey(b.preset) ? -1 : 1;
}

async function lockPresets(connection: PoolConnection, creations: readonly NewVersion[]): Promise<Map<string, Draft>> {
  const keys = new Map(creations.map((creation) => [presetKey(creation), creation]));
  // The forced index makes this a walk over single keys, in key order, also while the table is small:
  // a scan would wait for the locks of rows that are none of ours.
  const [rows] = await connection.execute<LockedRow[]>(
    `SELECT ${presetColumns}, p.latest_version FROM presets p FORCE INDEX (PRIMARY)
      WHERE ${Array(keys.size).fill("(p.workspace_id = ? AND p.slug = ?)").join(" OR ")} FOR UPDATE`,
    [...keys.values()].flatMap(({ workspaceId, slug }) => [idToBytes(workspaceId), slug]),
  );
  return new Map(
    rows.map((row) => {
      const preset = presetFromRow(row);
      return [presetKey(preset), { isNew: false, preset, latestVersion: row.latest_version }];
    }),
  );
}

function newDraft(creation: NewVersion, now: Date): Draft {
  return {
    isNew: true,
    latestVersion: 0,
    preset: {
      id: newId(),
      workspaceId: creation.workspaceId,
      slug: creation.slug,
      name: creation.slug,
      description: undefined,
      status: "active",
      statusUpdatedAt: undefined,
      creatorUserId: creation.creatorId,
      createdAt: now,
      updatedAt: now,
      designatedVersionId: "",
    },
  };
}

function nextVersion({ preset, latestVersion }: Draft, creation: NewVersion, now: Date): PresetVersion {
  return {
    id: newId(),
    presetId: preset.id,
    version: latestVersion + 1,
    configJson: creation.configJson,
    systemPrompt: creation.systemPrompt,
    creatorId: creation.creatorId,
    // The clock of the process that wrote last may run ahead of ours.
    createdAt: now > preset.updatedAt ? now : preset.updatedAt,
  };
}

const presetInsert = `INSERT INTO presets (workspace_id, slug, id, name, description, status, status_updated_at,
  creator_user_id, latest_version, designated_version, designated_version_id, created_at, updated_at) VALUES `;

function presetValues(drafts: readonly Draft[]): {
  placeholders: string;
  values: (Buffer | string | number | Date | null)[];
} {
  return {
    placeholders: Array(drafts.length).fill("(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").join(", "),
    values: drafts.flatMap(({ preset, latestVersion }) => [
      idToBytes(preset.workspaceId),
      preset.slug,
      idToBytes(preset.id),
      preset.name,
      preset.description ?? null,
      preset.status,
      preset.statusUpdatedAt ?? null,
      preset.creatorUserId,
      latestVersion,
      latestVersion,
      idToBytes(preset.designatedVersionId),
      preset.createdAt,
      preset.updatedAt,
    ]),
  };
}

async function insertPresets(connection: PoolConnection, drafts: readonly Draft[]): Promise<void> {
  const { placeholders, values } = presetValues(drafts);
  try {
    await connection.execute(presetInsert + placeholders, values);
  } catch (error) {
    throw isDuplicateKey(error) ? new PresetAppeared() : error;
  }
}

async function updatePresets(connection: PoolConnection, drafts: readonly Draft[]): Promise<void> {
  const { placeholders, values } = presetValues(drafts);
  // Every row exists and is locked, so nothing is inserted: this is how one statement updates many rows to different values.
  await connection.execute(
    `${presetInsert}${placeholders} ON DUPLICATE KEY UPDATE latest_version = VALUES(latest_version),
      designated_version = VALUES(designated_version), designated_version_id = VALUES(designated_version_id),
      updated_at = VALUES(updated_at)`,
    values,
  );
}

async function insertVersionRows(
  connection: PoolConnection,
  versions: readonly [NewVersion, PresetVersion][],
): Promise<void> {
  try {
    await connection.execute(
      `INSERT INTO preset_versions (workspace_id, preset_id, version, id, config, system_prompt, creator_id, request_id,
        request_digest, created_at) VALUES ${Array(versions.length).fill("(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").join(", ")}`,
      versions.flatMap(([creation, version]) => [
        idToBytes(creation.workspaceId),
        idToBytes(version.presetId),
        version.version,
        idToBytes(version.id),
        version.configJson,
        version.systemPrompt ?? null,
        version.creatorId,
        creation.requestId,
        creation.requestDigest,
        version.createdAt,
      ]),
    );
  } catch (error) {
    throw isDuplicateKey(error, "preset_versions_request") ? new RequestSeen() : error;
  }
}
