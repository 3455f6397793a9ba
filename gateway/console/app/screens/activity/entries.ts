import type { OrganizationChange, WorkspaceChange } from "../../api/types.ts";

/** One change, of whatever log. */
export type Entry =
  | { readonly log: "presets"; readonly change: WorkspaceChange }
  | { readonly log: "organization"; readonly change: OrganizationChange };

export interface EntryPage {
  readonly entries: readonly Entry[];
  /** How many of each log are on the page: where the next page begins. */
  readonly presetsUsed: number;
  readonly organizationUsed: number;
}

/** The newest of two logs, each with its newest first, as one page. */
export function mergeLogs(
  presets: readonly WorkspaceChange[],
  organization: readonly OrganizationChange[],
  pageSize: number,
): EntryPage {
  const entries: Entry[] = [];
  let presetsUsed = 0;
  let organizationUsed = 0;
  while (entries.length < pageSize) {
    const one = presets[presetsUsed];
    const other = organization[organizationUsed];
    if (one && (!other || one.created_at >= other.created_at)) {
      entries.push({ log: "presets", change: one });
      presetsUsed++;
    } else if (other) {
      entries.push({ log: "organization", change: other });
      organizationUsed++;
    } else break;
  }
  return { entries, presetsUsed, organizationUsed };
}
