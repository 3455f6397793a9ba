import { DomainError } from "../../platform/domain/domain-error.ts";

export function presetArchived(slug: string): DomainError {
  return new DomainError("failed_precondition", {
    reason: "PRESET_ARCHIVED",
    message: `The preset ${slug} is archived and takes no new version. Restore it first: PATCH /api/v1/presets/${slug} with {"status": "active"}.`,
  });
}

export function presetNotFound(slug: string): DomainError {
  return new DomainError("not_found", {
    reason: "PRESET_NOT_FOUND",
    message: `There is no preset ${slug} in this workspace. Check the slug, or create it first.`,
  });
}

export function versionNotFound(slug: string, version: number): DomainError {
  return new DomainError("not_found", {
    reason: "VERSION_NOT_FOUND",
    message: `The preset ${slug} has no version ${version}. List its versions to see which there are.`,
  });
}

export function etagStale(): DomainError {
  return new DomainError("failed_precondition", {
    reason: "ETAG_STALE",
    message: "The preset has changed since you read it. Read it again and repeat your change.",
  });
}

/** For a caller that expects the preset to be as it last read it. */
export function presetMissing(slug: string): DomainError {
  return new DomainError("failed_precondition", {
    reason: "ETAG_STALE",
    message: `There is no preset ${slug} in this workspace for If-Match to match. Leave out If-Match to create it.`,
  });
}

/** For a caller that wants to create a preset, not add a version to one. */
export function presetExists(slug: string): DomainError {
  return new DomainError("failed_precondition", {
    reason: "ETAG_STALE",
    message: `There is a preset ${slug} in this workspace already. Choose another slug, or leave out If-None-Match to add a version to it.`,
  });
}

export function statusTransition(slug: string, from: string, to: string): DomainError {
  return new DomainError("failed_precondition", {
    reason: "STATUS_TRANSITION",
    message: `The preset ${slug} is ${from} and cannot become ${to}. Make it active first.`,
  });
}
