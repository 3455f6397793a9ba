import type { Preset } from "./preset.ts";

export type ChangeAction = "preset_created" | "version_created" | "preset_updated";

/** A field before and after a change, under its public name; null if there is no value. */
export interface FieldChange {
  readonly field: "name" | "description" | "status" | "designated_version";
  readonly from: string | number | null;
  readonly to: string | number | null;
}

/** Who changes something. */
export interface Actor {
  readonly userId: string;
  readonly keyId: string;
}

/** One entry of a preset's change log. */
export interface PresetChange {
  readonly revision: number;
  readonly action: ChangeAction;
  readonly actor: Actor;
  readonly fields: readonly FieldChange[];
  readonly createdAt: Date;
}

/** One entry of the change logs of a workspace, with the current name of the preset that was changed. */
export interface WorkspaceChange {
  readonly presetId: string;
  readonly slug: string;
  readonly name: string;
  readonly change: PresetChange;
}

/** Filters changes; an undefined field matches all. */
export interface ChangeFilter {
  readonly action: ChangeAction | undefined;
  readonly userId: string | undefined;
}

/**
 * The change log entry of a creation; `before` is the preset without the new version, undefined if it created the
 * preset.
 */
export function creationChange(before: Preset | undefined, after: Preset, actor: Actor): PresetChange {
  return {
    revision: after.revision,
    action: before ? "version_created" : "preset_created",
    actor,
    fields: [{ field: "designated_version", from: before?.designatedNumber ?? null, to: after.designatedNumber }],
    createdAt: after.updatedAt,
  };
}

/** The change log entry of an update that changed these fields. */
export function updateChange(after: Preset, fields: readonly FieldChange[], actor: Actor): PresetChange {
  return { revision: after.revision, action: "preset_updated", actor, fields, createdAt: after.updatedAt };
}
