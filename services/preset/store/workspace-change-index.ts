import { idToBytes } from "../../platform/domain/ids.ts";
import type { ChangeFilter } from "../domain/change.ts";

/** The changes of a workspace that match a filter, as held by one index, in list order. */
export interface IndexedChanges {
  /** A table expression. The index is forced, because servers would rather read and sort all rows. */
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
