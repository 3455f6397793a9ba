import type { Preset } from "../domain/preset.ts";

type PresetState = Pick<Preset, "name" | "description" | "status" | "statusUpdatedAt">;
type UpdatedState = PresetState & Pick<Preset, "updatedAt" | "designatedNumber" | "revision">;

/** The mutable fields of a preset, stored with each version; null while they are as at the creation. */
export function presetStateToJson({ slug, name, description, status, statusUpdatedAt }: Preset): string | null {
  const untouched = name === slug && description === undefined && status === "active" && statusUpdatedAt === undefined;
  return untouched ? null : JSON.stringify({ name, description, status, statusUpdatedAt });
}

export function presetStateFromJson(json: string | null, slug: string): PresetState {
  if (json === null) return { name: slug, description: undefined, status: "active", statusUpdatedAt: undefined };
  return stateFrom(JSON.parse(json));
}

/** What an update may have changed, stored with its request. */
export function updatedStateToJson(preset: Preset): string {
  const { name, description, status, statusUpdatedAt, updatedAt, designatedNumber, revision } = preset;
  return JSON.stringify({ name, description, status, statusUpdatedAt, updatedAt, designatedNumber, revision });
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
