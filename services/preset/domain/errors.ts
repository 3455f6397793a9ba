import { DomainError } from "../../platform/domain-error.ts";

export function presetArchived(slug: string): DomainError {
  return new DomainError("failed_precondition", {
    reason: "PRESET_ARCHIVED",
    message: `The preset ${slug} is archived and takes no new version. Restore it first: PATCH /api/v1/presets/${slug} with {"status": "active"}.`,
  });
}

export function requestIdReused(): DomainError {
  return new DomainError("already_exists", {
    reason: "REQUEST_ID_REUSED",
    message: "This idempotency key was used for another request. Use a new key, or send the same request again.",
  });
}

/** Others kept changing the same presets until the time was up. */
export function conflictNotSettled(cause: unknown): DomainError {
  return new DomainError("aborted", {
    reason: "CONFLICT",
    message: "Too many changes of this preset at once; nothing was stored. Try again.",
    cause,
  });
}
