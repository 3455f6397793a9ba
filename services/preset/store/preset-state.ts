import type { Preset } from "../domain/preset.ts";

type PresetState = Pick<Preset, "name" | "description" | "status" | "statusUpdatedAt">;

/** The mutable fields of a preset, stored with each version; null while they are as at the creation. */
export function presetStateToJson({ slug, name, description, status, statusUpdatedAt }: Preset): string | null {
  const untouched = name === slug && description === undefined && status === "active" && statusUpdatedAt === undefined;
  return untouched ? null : JSON.stringify({ name, description, status, statusUpdatedAt });
}

export function presetStateFromJson(json: string | null, slug: string): PresetState {
  if (json === null) return { name: slug, description: undefined, status: "active", statusUpdatedAt: undefined };
  const { name, description, status, statusUpdatedAt } = JSON.parse(json);
  return { name, description, status, statusUpdatedAt: statusUpdatedAt && new Date(statusUpdatedAt) };
}
