import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  PresetChangeAction,
  type PresetChangeSchema,
  type WorkspaceChangeSchema,
} from "../../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type { ListWorkspaceChangesRequest } from "../../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { type FieldViolation, invalidRequest } from "../../platform/domain/domain-error.ts";
import { idViolations } from "../../platform/domain/text-violations.ts";
import { namesByNumber } from "../../platform/rpc/names-by-number.ts";
import type { ChangeFilter, PresetChange, WorkspaceChange } from "../domain/change.ts";

const actionMessages = {
  preset_created: PresetChangeAction.PRESET_CREATED,
  version_created: PresetChangeAction.VERSION_CREATED,
  preset_updated: PresetChangeAction.PRESET_UPDATED,
} as const;

const actionsByMessage = namesByNumber(actionMessages);

export function toChangeMessage(change: PresetChange): MessageInitShape<typeof PresetChangeSchema> {
  return {
    revision: change.revision,
    action: actionMessages[change.action],
    userId: change.actor.userId,
    keyId: change.actor.keyId,
    createTime: timestampFromDate(change.createdAt),
    fields: change.fields.map(({ field, from, to }) => ({
      field,
      fromJson: JSON.stringify(from),
      toJson: JSON.stringify(to),
    })),
  };
}

export function toWorkspaceChangeMessage(entry: WorkspaceChange): MessageInitShape<typeof WorkspaceChangeSchema> {
  const { presetId, slug, name, change } = entry;
  return { presetId, slug, name, change: toChangeMessage(change) };
}

export function fromListWorkspaceChangesRequest({ action, userId }: ListWorkspaceChangesRequest): ChangeFilter {
  const known = actionsByMessage.get(action);
  const violations: FieldViolation[] = [];
  if (action !== PresetChangeAction.UNSPECIFIED && !known)
    violations.push({ path: "action", message: "must be a known action" });
  violations.push(...idViolations("user_id", userId));
  if (violations.length > 0) throw invalidRequest(violations);
  return { action: known, userId: userId || undefined };
}
