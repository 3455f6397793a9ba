import {
  OrganizationChangeAction as Action,
  type OrganizationChange,
  ChangeTargetKind as TargetKind,
} from "../../proto/gen/setpoint/organization/v1/change_pb.ts";
import { namer } from "./enum-names.ts";
import { fieldChangesJson } from "./field-change.ts";
import { isoTime } from "./time.ts";

/** The public name of each action. */
export const actionByName = {
  key_created: Action.KEY_CREATED,
  key_updated: Action.KEY_UPDATED,
  key_rotated: Action.KEY_ROTATED,
  key_deleted: Action.KEY_DELETED,
  workspace_created: Action.WORKSPACE_CREATED,
  workspace_updated: Action.WORKSPACE_UPDATED,
  workspace_deleted: Action.WORKSPACE_DELETED,
  workspace_members_added: Action.WORKSPACE_MEMBERS_ADDED,
  workspace_members_removed: Action.WORKSPACE_MEMBERS_REMOVED,
  member_added: Action.MEMBER_ADDED,
  member_updated: Action.MEMBER_UPDATED,
  member_removed: Action.MEMBER_REMOVED,
} as const;

/** The public name of each kind of target. */
export const targetKindByName = {
  key: TargetKind.KEY,
  workspace: TargetKind.WORKSPACE,
  member: TargetKind.MEMBER,
} as const;

const actionNameOf = namer(actionByName);
const targetKindNameOf = namer(targetKindByName);

export function organizationChangeJson(change: OrganizationChange): string {
  const { target } = change;
  if (!target) throw new Error("The organization service answered with a change of nothing");
  const fields = JSON.stringify({
    id: change.id,
    action: actionNameOf(change.action),
    user_id: change.userId ?? null,
    key_id: change.keyId ?? null,
    target: { kind: targetKindNameOf(target.kind), id: target.id, name: target.name },
    created_at: isoTime(change.createTime),
  });
  return `${fields.slice(0, -1)},"changes":${fieldChangesJson(change.fields)}}`;
}
