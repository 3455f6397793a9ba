import type { DomainError } from "../../platform/domain/domain-error.ts";
import { newId } from "../../platform/domain/ids.ts";
import { etagStale, presetArchived, presetExists, presetMissing } from "./errors.ts";
import { isNewPresetExpected, matchesEtags } from "./etags.ts";
import type { NewVersion } from "./new-version.ts";
import { type Outcome, type Preset, type ServedPreset, timeOfChange } from "./preset.ts";

/**
 * The preset with one more version, which it serves from now on; `before` is undefined if this creates the preset. A
 * refusal is returned and not thrown: within a batch, it is the answer to this creation only.
 */
export function addVersion(before: Preset | undefined, creation: NewVersion, now: Date): Outcome {
  if (!matchesEtags(before, creation.etags)) return etagMismatch(before, creation);
  if (before?.status === "archived") return presetArchived(creation.slug);
  return withNextVersion(before ?? newPreset(creation, now), creation, now);
}

function etagMismatch(before: Preset | undefined, { slug, etags }: NewVersion): DomainError {
  if (!before) return presetMissing(slug);
  return isNewPresetExpected(etags) ? presetExists(slug) : etagStale();
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
  const createdAt = timeOfChange(preset, now);
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
      dialect: creation.dialect,
      creatorId: creation.actor.userId,
      createdAt,
    },
  };
}
