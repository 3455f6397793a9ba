import type { BatchObserver } from "../../platform/batching/batch-observer.ts";
import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import type { Caller } from "../../platform/mysql/caller.ts";
import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import { cachedByCount, repeated } from "../../platform/mysql/text-by-count.ts";
import { type PresetKey, type PresetVersion, presetKey, type ServedPreset } from "../domain/preset.ts";
import {
  type PresetRow,
  presetColumns,
  presetFromRow,
  type VersionRow,
  versionColumns,
  versionFromRow,
} from "./preset-rows.ts";
import { type Admit, type Large, SizedLookup, smallBytesMax } from "./sized-lookup.ts";

interface VersionKey extends PresetKey {
  readonly version: number;
}

/** Point reads. */
export class PresetReader {
  readonly #presets: SizedLookup<PresetKey, ServedPreset>;
  readonly #versions: SizedLookup<VersionKey, PresetVersion>;

  /** With `batchByWorkspace`, no statement spans two workspaces, which may be on two shards. */
  constructor(
    pool: Pool,
    { batchByWorkspace, observer }: { readonly batchByWorkspace: boolean; readonly observer?: BatchObserver },
  ) {
    const grouping = batchByWorkspace ? { groupOf: ({ workspaceId }: PresetKey) => workspaceId } : {};
    this.#presets = new SizedLookup({
      ...grouping,
      observer,
      keyOf: presetKey,
      find: async (keys, trace) =>
        new Map((await findPresetRows(pool.within({ trace }), keys, selectMeasuredPresets)).map(presetOrLarge)),
      findLarge: async (keys, trace) =>
        new Map((await findPresetRows(pool.within({ trace }), keys, selectPresets)).map(presetEntry)),
    });
    this.#versions = new SizedLookup({
      ...grouping,
      keyOf: versionKey,
      find: async (keys, trace) =>
        new Map((await findVersionRows(pool.within({ trace }), keys, selectMeasuredVersions)).map(versionOrLarge)),
      findLarge: async (keys, trace) =>
        new Map((await findVersionRows(pool.within({ trace }), keys, selectVersions)).map(versionEntry)),
    });
  }

  /** If the designated version is the known one, it is returned without its content. */
  async findPreset(
    workspaceId: string,
    slug: string,
    caller: Caller,
    admit?: Admit,
    knownVersionId = "",
  ): Promise<ServedPreset | undefined> {
    const isKnown = ({ designatedVersion }: ServedPreset) => designatedVersion.id === knownVersionId;
    const preset = await this.#presets.find({ workspaceId, slug }, caller, admit, isKnown);
    return preset && isKnown(preset) ? withoutContent(preset) : preset;
  }

  hasPreset(workspaceId: string, slug: string, caller: Caller): Promise<boolean> {
    return this.#presets.has({ workspaceId, slug }, caller);
  }

  findVersion(
    workspaceId: string,
    slug: string,
    version: number,
    caller: Caller,
    admit?: Admit,
  ): Promise<PresetVersion | undefined> {
    return this.#versions.find({ workspaceId, slug, version }, caller, admit);
  }
}

function versionKey(key: VersionKey): string {
  return `${presetKey(key)}/${key.version}`;
}

const contentBytes = "LENGTH(v.config) + COALESCE(LENGTH(v.system_prompt), 0)";

/** A version with its size, and without its content if that is large. */
const measuredColumns = `${versionColumns.replaceAll(
  /v\.(config|system_prompt)\b/g,
  (column, name) => `IF(${contentBytes} <= ${smallBytesMax}, ${column}, NULL) AS ${name}`,
)}, ${contentBytes} AS content_bytes`;

/** Only the measured columns include a size; then the config is null if it was left out. */
type FoundRow<Columns> = VersionRow & Columns & { readonly content_bytes?: number };
type FoundPresetRow = FoundRow<PresetRow>;
type FoundVersionRow = FoundRow<Pick<PresetRow, "workspace_id" | "slug">>;

function valueOrLarge<Value>({ config, content_bytes }: FoundRow<unknown>, value: Value): Value | Large<Value> {
  return config === null && content_bytes !== undefined ? { largeBytes: content_bytes, withoutContent: value } : value;
}

function withoutContent({ designatedVersion, ...preset }: ServedPreset): ServedPreset {
  return { ...preset, designatedVersion: { ...designatedVersion, configJson: "", systemPrompt: undefined } };
}

function presetEntry(row: FoundPresetRow): [string, ServedPreset] {
  const preset = { ...presetFromRow(row), designatedVersion: versionFromRow(row) };
  return [presetKey(preset), preset];
}

function presetOrLarge(row: FoundPresetRow): [string, ServedPreset | Large<ServedPreset>] {
  const [key, preset] = presetEntry(row);
  return [key, valueOrLarge(row, preset)];
}

function versionEntry(row: FoundVersionRow): [string, PresetVersion] {
  const { workspace_id, slug, version } = row;
  return [versionKey({ workspaceId: idFromBytes(workspace_id), slug, version }), versionFromRow(row)];
}

function versionOrLarge(row: FoundVersionRow): [string, PresetVersion | Large<PresetVersion>] {
  const [key, version] = versionEntry(row);
  return [key, valueOrLarge(row, version)];
}

const selectingPresets = (columns: string) =>
  cachedByCount(
    (count) => `SELECT ${presetColumns}, ${columns} FROM presets p
      JOIN preset_versions v ON v.workspace_id = p.workspace_id AND v.preset_id = p.id AND v.version = p.designated_version
      WHERE ${repeated(count, "(p.workspace_id = ? AND p.slug = ?)", " OR ")}`,
  );

const selectPresets = selectingPresets(versionColumns);
const selectMeasuredPresets = selectingPresets(measuredColumns);

async function findPresetRows(
  executor: Executor,
  keys: readonly PresetKey[],
  select: (count: number) => string,
): Promise<FoundPresetRow[]> {
  const values = keys.flatMap(({ workspaceId, slug }) => [idToBytes(workspaceId), slug]);
  const [rows] = await executor.execute<FoundPresetRow[]>(select(keys.length), values);
  return rows;
}

// A union and not an OR: with an OR, every version of each preset would be read if the versions differ.
const selectingVersions = (columns: string) =>
  cachedByCount((count) =>
    repeated(
      count,
      `SELECT p.workspace_id, p.slug, ${columns} FROM presets p
        JOIN preset_versions v ON v.workspace_id = p.workspace_id AND v.preset_id = p.id
        WHERE p.workspace_id = ? AND p.slug = ? AND v.version = ?`,
      " UNION ALL ",
    ),
  );

const selectVersions = selectingVersions(versionColumns);
const selectMeasuredVersions = selectingVersions(measuredColumns);

async function findVersionRows(
  executor: Executor,
  keys: readonly VersionKey[],
  select: (count: number) => string,
): Promise<FoundVersionRow[]> {
  const values = keys.flatMap(({ workspaceId, slug, version }) => [idToBytes(workspaceId), slug, version]);
  const [rows] = await executor.execute<FoundVersionRow[]>(select(keys.length), values);
  return rows;
}
