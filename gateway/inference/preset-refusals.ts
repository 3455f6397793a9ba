import { type Preset, PresetStatus } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { DomainError, isOfKind } from "../../services/platform/domain/domain-error.ts";

// Why a preset cannot be used. The preset service has the same reasons.

/** `nearest` is the slug that was most likely meant, if there is one. */
export function presetNotFound(slug: string, nearest?: string): DomainError {
  const hint = nearest === undefined ? "Check the slug, or create it first." : `Did you mean ${nearest}?`;
  return new DomainError("not_found", {
    reason: "PRESET_NOT_FOUND",
    message: `There is no preset ${slug} in this workspace. ${hint}`,
  });
}

/** For an error of the preset service: whether the preset does not exist, as opposed to the caller's workspace. */
export function isPresetNotFound(error: unknown): boolean {
  return isOfKind(error, "not_found") && error.reason === "PRESET_NOT_FOUND";
}

export function versionNotFound(slug: string, version: number): DomainError {
  return new DomainError("not_found", {
    reason: "VERSION_NOT_FOUND",
    message: `The preset ${slug} has no version ${version}. List its versions to see which there are: GET /api/v1/presets/${slug}/versions.`,
  });
}

/** Why a preset may not be used now; undefined if it may. */
export function refusalOf({ slug, status }: Pick<Preset, "slug" | "status">): DomainError | undefined {
  if (status === PresetStatus.ACTIVE) return undefined;
  return status === PresetStatus.ARCHIVED ? presetArchived(slug) : presetDisabled(slug);
}

function presetDisabled(slug: string): DomainError {
  return new DomainError("failed_precondition", {
    reason: "PRESET_DISABLED",
    message: `The preset ${slug} is disabled. ${howToRestore(slug)}`,
  });
}

function presetArchived(slug: string): DomainError {
  return new DomainError("failed_precondition", {
    reason: "PRESET_ARCHIVED",
    message: `The preset ${slug} is archived. ${howToRestore(slug)}`,
  });
}

function howToRestore(slug: string): string {
  return `Restore it first: PATCH /api/v1/presets/${slug} with {"status": "active"}.`;
}
