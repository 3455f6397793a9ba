import {
  OrganizationChangeAction as Action,
  type OrganizationChange,
  ChangeTargetKind as TargetKind,
} from "../../proto/gen/setpoint/organization/v1/change_pb.ts";
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

const actionNames = new Map<number, string>(Object.entries(actionByName).map(([name, action]) => [action, name]));

const kindNames: Readonly<Record<number, string>> = {
  [TargetKind.KEY]: "key",
  [TargetKind.WORKSPACE]: "workspace",
  [TargetKind.MEMBER]: "member",
};

export function organizationChangeJson(change: OrganizationChange): string {
  const { target } = change;
  if (!target) throw new Error("The organization service answered with a change of nothing");
  const fields = JSON.stringify({
    id: change.id,
    action: actionNames.get(change.action) ?? null,
    user_id: change.userId ?? null,
    key_id: change.keyId ?? null,
    target: { kind: kindNames[target.kind] ?? null, id: target.id, name: target.name },
    created_at: isoTime(change.createTime),
  });
  return `${fields.slice(0, -1)},"changes":${fieldChangesJson(change.fields)}}`;
}
