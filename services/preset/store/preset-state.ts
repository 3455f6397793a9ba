import type { Preset, PresetKey } from "../domain/preset.ts";

/** What an update does not change, or what follows from the version that it designates. */
type NotUpdated = keyof PresetKey | "id" | "creatorUserId" | "createdAt" | "latestVersion" | "designatedVersionId";
/** All else, so that a new field of presets cannot be forgotten here. */
type UpdatedState = Omit<Preset, NotUpdated>;
/** Without what a version's own row has. */
type PresetState = Omit<UpdatedState, "updatedAt" | "designatedNumber" | "revision">;

function stateAtCreation(slug: string): PresetState {
  return { name: slug, description: undefined, status: "active", statusUpdatedAt: undefined };
}

/** The mutable fields of a preset, stored with each version; null while they are as at the creation. */
export function presetStateToJson({ slug, name, description, status, statusUpdatedAt }: Preset): string | null {
  const state: PresetState = { name, description, status, statusUpdatedAt };
  const initial = stateAtCreation(slug);
  const isUntouched = (Object.keys(initial) as (keyof PresetState)[]).every((field) => state[field] === initial[field]);
  return isUntouched ? null : JSON.stringify(state);
}

export function presetStateFromJson(json: string | null, slug: string): PresetState {
  return json === null ? stateAtCreation(slug) : stateFrom(JSON.parse(json));
}

/** What an update may have changed, stored with its request. */
export function updatedStateToJson(preset: Preset): string {
  const { name, description, status, statusUpdatedAt, updatedAt, designatedNumber, revision } = preset;
  const state: UpdatedState = { name, description, status, statusUpdatedAt, updatedAt, designatedNumber, revision };
  return JSON.stringify(state);
}

export function updatedStateFromJson(json: string): UpdatedState {
  const { updatedAt, designatedNumber, revision, ...state } = JSON.parse(json);
  return { ...stateFrom(state), updatedAt: new Date(updatedAt), designatedNumber, revision };
}

/** Times are text in JSON, and what is undefined is left out. */
function stateFrom(parsed: Omit<PresetState, "statusUpdatedAt"> & { readonly statusUpdatedAt?: string }): PresetState {
  const { name, description, status, statusUpdatedAt } = parsed;
  return { name, description, status, statusUpdatedAt: statusUpdatedAt ? new Date(statusUpdatedAt) : undefined };
}
