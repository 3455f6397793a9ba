import { idToBytes } from "../../platform/domain/ids.ts";
import type { ChangeFilter } from "../domain/change.ts";

/** The changes of a workspace that a filter lets through, as one index holds them: in the order of their list. */
export interface IndexedChanges {
  /** A table expression. The index is named, because servers prefer the rows themselves, and sort them all. */
  readonly from: string;
  readonly where: string;
  readonly values: readonly (Buffer | string)[];
}

export const unfiltered: ChangeFilter = { action: undefined, userId: undefined };

export function indexedChanges(workspaceId: string, { action, userId }: ChangeFilter): IndexedChanges {
  const index = userId ? (action ? "user_action" : "user") : action ? "action" : "created";
  return {
    from: `preset_changes FORCE INDEX (preset_changes_${index})`,
    where: `workspace_id = ?${userId ? " AND user_id = ?" : ""}${action ? " AND action = ?" : ""}`,
    values: [idToBytes(workspaceId), ...(userId ? [userId] : []), ...(action ? [action] : [])],
  };
}
