import { reasonForbidden } from "../../api/session.ts";

interface CannotSaveProps {
  readonly isArchived?: boolean;
}

/** Shown before anybody starts to write, rather than when they try to save. */
export function CannotSave({ isArchived = false }: CannotSaveProps) {
  const reason = reasonForbidden("write") ?? (isArchived ? archivedReason : undefined);
  return reason ? <p class="notice">{reason} What you write here cannot be saved.</p> : null;
}

export const archivedReason = "No versions can be added to an archived preset. Make it active first, in its settings.";
