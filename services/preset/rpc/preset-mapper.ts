import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type PresetSchema,
  PresetStatus,
  type PresetVersionSchema,
} from "../../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type { PresetVersion, ServedPreset } from "../domain/preset.ts";

const statusMessages = {
  active: PresetStatus.ACTIVE,
  disabled: PresetStatus.DISABLED,
  archived: PresetStatus.ARCHIVED,
} as const;

export function toPresetMessage(preset: ServedPreset): MessageInitShape<typeof PresetSchema> {
  return {
    id: preset.id,
    slug: preset.slug,
    name: preset.name,
    description: preset.description,
    status: statusMessages[preset.status],
    statusUpdateTime: preset.statusUpdatedAt && timestampFromDate(preset.statusUpdatedAt),
    createTime: timestampFromDate(preset.createdAt),
    updateTime: timestampFromDate(preset.updatedAt),
    creatorUserId: preset.creatorUserId,
    workspaceId: preset.workspaceId,
    designatedVersionId: preset.designatedVersionId,
    designatedVersion: toVersionMessage(preset.designatedVersion),
  };
}

export function toVersionMessage(version: PresetVersion): MessageInitShape<typeof PresetVersionSchema> {
  return {
    id: version.id,
    presetId: version.presetId,
    version: version.version,
    configJson: version.configJson,
    systemPrompt: version.systemPrompt,
    creatorId: version.creatorId,
    createTime: timestampFromDate(version.createdAt),
    updateTime: timestampFromDate(version.createdAt),
  };
}
