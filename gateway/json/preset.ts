import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Preset, PresetStatus, type PresetVersion } from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";

// Answers are put together as text: `config` is JSON already and goes out exactly as it was stored.

const statusNames: Readonly<Record<number, string>> = {
  [PresetStatus.ACTIVE]: "active",
  [PresetStatus.DISABLED]: "disabled",
  [PresetStatus.ARCHIVED]: "archived",
};

/** The preset with its designated version. */
export function presetJson(preset: Preset): string {
  const fields = JSON.stringify({
    id: preset.id,
    name: preset.name,
    slug: preset.slug,
    description: preset.description ?? null,
    status: statusNames[preset.status] ?? null,
    status_updated_at: isoTime(preset.statusUpdateTime),
    created_at: isoTime(preset.createTime),
    updated_at: isoTime(preset.updateTime),
    creator_user_id: preset.creatorUserId,
    workspace_id: preset.workspaceId,
    designated_version_id: preset.designatedVersionId,
  });
  const version = preset.designatedVersion ? versionJson(preset.designatedVersion) : "null";
  return `${fields.slice(0, -1)},"designated_version":${version}}`;
}

export function versionJson(version: PresetVersion): string {
  const fields = JSON.stringify({
    id: version.id,
    preset_id: version.presetId,
    version: version.version,
    system_prompt: version.systemPrompt ?? null,
    creator_id: version.creatorId,
    created_at: isoTime(version.createTime),
    updated_at: isoTime(version.updateTime),
  });
  return `${fields.slice(0, -1)},"config":${version.configJson}}`;
}

function isoTime(time: Timestamp | undefined): string | null {
  return time ? new Date(timestampMs(time)).toISOString() : null;
}
