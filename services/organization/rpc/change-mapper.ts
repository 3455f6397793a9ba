import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  OrganizationChangeAction as ActionMessage,
  type OrganizationChangeSchema,
  ChangeTargetKind as TargetKindMessage,
} from "../../../proto/gen/setpoint/organization/v1/change_pb.ts";
import type { ListChangesRequest } from "../../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { invalidRequest } from "../../platform/domain/domain-error.ts";
import { isId } from "../../platform/domain/ids.ts";
import { idViolations } from "../../platform/domain/text-violations.ts";
import { namesByNumber } from "../../platform/rpc/names-by-number.ts";
import type { ChangeAction, ChangeFilter, LoggedChange, TargetKind } from "../domain/changes.ts";

const actionMessages: Readonly<Record<ChangeAction, ActionMessage>> = {
  key_created: ActionMessage.KEY_CREATED,
  key_updated: ActionMessage.KEY_UPDATED,
  key_rotated: ActionMessage.KEY_ROTATED,
  key_deleted: ActionMessage.KEY_DELETED,
  workspace_created: ActionMessage.WORKSPACE_CREATED,
  workspace_updated: ActionMessage.WORKSPACE_UPDATED,
  workspace_deleted: ActionMessage.WORKSPACE_DELETED,
  workspace_members_added: ActionMessage.WORKSPACE_MEMBERS_ADDED,
  workspace_members_removed: ActionMessage.WORKSPACE_MEMBERS_REMOVED,
  member_added: ActionMessage.MEMBER_ADDED,
  member_updated: ActionMessage.MEMBER_UPDATED,
  member_removed: ActionMessage.MEMBER_REMOVED,
};

const actionsByMessage = namesByNumber(actionMessages);

const targetKindMessages: Readonly<Record<TargetKind, TargetKindMessage>> = {
  key: TargetKindMessage.KEY,
  workspace: TargetKindMessage.WORKSPACE,
  member: TargetKindMessage.MEMBER,
};

export function toChangeMessage(change: LoggedChange): MessageInitShape<typeof OrganizationChangeSchema> {
  return {
    id: change.id,
    action: actionMessages[change.action],
    userId: change.actor.userId,
    keyId: change.actor.keyId,
    target: { ...change.target, kind: targetKindMessages[change.target.kind] },
    fields: change.fields.map(({ field, from, to }) => ({
      field,
      fromJson: JSON.stringify(from),
      toJson: JSON.stringify(to),
    })),
    createTime: timestampFromDate(change.createdAt),
  };
}

export function fromListChangesRequest({ action, userId, targetId }: ListChangesRequest): ChangeFilter {
  const known = actionsByMessage.get(action);
  if (action !== ActionMessage.UNSPECIFIED && !known) {
    throw invalidRequest([{ path: "action", message: "must be a known action" }]);
  }
  const violations = [...idViolations("user_id", userId), ...idViolations("target_id", targetId)];
  if (violations.length > 0) throw invalidRequest(violations);
  // Ids are stored in lower case, and a UUID may be written in upper case.
  const target = isId(targetId) ? targetId.toLowerCase() : targetId;
  return { action: known, userId: userId || undefined, targetId: target || undefined };
}
