import { hash } from "node:crypto";
import { type FieldViolation, invalidRequest } from "../../platform/domain/domain-error.ts";
import { presetDescriptionLengthMax, presetNameLengthMax } from "../../platform/domain/limits.ts";
import { lengthViolations, requestIdViolations } from "../../platform/domain/text-violations.ts";
import type { FieldChange } from "./change.ts";
import { etagStale, statusTransition, versionNotFound } from "./errors.ts";
import { etagsViolations, matchesEtags } from "./etags.ts";
import { type Preset, type PresetStatus, timeOfChange } from "./preset.ts";
import { slugViolations } from "./slug.ts";
import { versionNumberViolations } from "./version-number.ts";

/** What a caller wants to change. A field that is absent stays as it is. */
export interface PresetUpdate {
  readonly slug: string;
  readonly name?: string;
  /** Null removes it. */
  readonly description?: string | null;
  readonly status?: PresetStatus;
  /** The number of the version to serve. */
  readonly designatedVersion?: number;
  /** The preset's etag must be one of these; empty: any. */
  readonly etags: readonly string[];
  readonly requestId: string;
}

/** Which status may follow which. Back from `archived` there is only the restore. */
const transitions: Readonly<Record<PresetStatus, readonly PresetStatus[]>> = {
  active: ["disabled", "archived"],
  disabled: ["active", "archived"],
  archived: ["active"],
};

/** Throws if the update breaks a rule that can be checked without the preset; all violations at once. */
export function checkUpdate(update: PresetUpdate): void {
  const { name, description, designatedVersion } = update;
  const violations: FieldViolation[] = [...slugViolations(update.slug), ...requestIdViolations(update.requestId)];
  if (name !== undefined) {
    if (name.trim() === "")
      violations.push({ path: "name", message: "must have at least 1 character, not only spaces" });
    violations.push(...lengthViolations("name", name, presetNameLengthMax));
  }
  if (description) violations.push(...lengthViolations("description", description, presetDescriptionLengthMax));
  if (designatedVersion !== undefined) {
    violations.push(...versionNumberViolations("designated_version", designatedVersion));
  }
  violations.push(...etagsViolations(update.etags));
  if (violations.length > 0) throw invalidRequest(violations);
}

/** The preset after the update, and the differences: none, if every field already had its value. */
export function applyUpdate(
  preset: Preset,
  update: PresetUpdate,
  now: Date,
): { readonly preset: Preset; readonly fields: readonly FieldChange[] } {
  if (!matchesEtags(preset, update.etags)) throw etagStale();
  const { name = preset.name, status = preset.status, designatedVersion = preset.designatedNumber } = update;
  const description = update.description === undefined ? preset.description : (update.description ?? undefined);
  if (status !== preset.status && !transitions[preset.status].includes(status)) {
    throw statusTransition(preset.slug, preset.status, status);
  }
  if (designatedVersion > preset.latestVersion) throw versionNotFound(preset.slug, designatedVersion);

  const all: FieldChange[] = [
    { field: "name", from: preset.name, to: name },
    { field: "description", from: preset.description ?? null, to: description ?? null },
    { field: "status", from: preset.status, to: status },
    { field: "designated_version", from: preset.designatedNumber, to: designatedVersion },
  ];
  const fields = all.filter(({ from, to }) => from !== to);
  if (fields.length === 0) return { preset, fields };
  const updatedAt = timeOfChange(preset, now);
  return {
    preset: {
      ...preset,
      name,
      description,
      status,
      statusUpdatedAt: status === preset.status ? preset.statusUpdatedAt : updatedAt,
      designatedNumber: designatedVersion,
      revision: preset.revision + 1,
      updatedAt,
    },
    fields,
  };
}

/** What a retry with the same request id must repeat: everything that the update asks for, in a fixed order. */
export function digestOf({ slug, name, description, status, designatedVersion }: PresetUpdate): Buffer {
  const asked = { slug, name, description, status, designatedVersion };
  const all: Record<keyof Omit<PresetUpdate, "etags" | "requestId">, unknown> = asked;
  return hash("sha256", JSON.stringify(all), "buffer");
}
