import type { FastifyReply } from "fastify";
import {
  type Preset,
  type PresetChange,
  PresetChangeAction,
  PresetStatus,
  type PresetVersion,
  type WorkspaceChange,
} from "../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type { DiffVersionsResponse } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { dialectNameOf } from "../dialects/dialect-name.ts";
import { namer } from "./enum-names.ts";
import { etagHeader, isNotModified } from "./etag.ts";
import { fieldChangesJson } from "./field-change.ts";
import { isoTime } from "./time.ts";

/** Answers are shared from this size on. For smaller ones, that would cost more than it saves. */
const largeLength = 64 * 1024;

// Answers are assembled as text: a config is already JSON and is sent exactly as it was stored.

/** The public name of each status. */
export const statusByName = {
  active: PresetStatus.ACTIVE,
  disabled: PresetStatus.DISABLED,
  archived: PresetStatus.ARCHIVED,
} as const;

/** The public name of each action. */
export const presetActionByName = {
  preset_created: PresetChangeAction.PRESET_CREATED,
  version_created: PresetChangeAction.VERSION_CREATED,
  preset_updated: PresetChangeAction.PRESET_UPDATED,
} as const;

const statusNameOf = namer(statusByName);
const actionNameOf = namer(presetActionByName);

/** Answers with a preset and its ETag, or with 304 if `ifNoneMatch` says that the caller already has it. */
export function sendPreset(reply: FastifyReply, preset: Preset, ifNoneMatch?: string): FastifyReply {
  // Before there are headers: a refusal has no ETag.
  const isKnown = isNotModified(ifNoneMatch, preset.etag);
  reply.header("etag", etagHeader(preset.etag));
  if (isKnown) return reply.status(304).send();
  return reply.type("application/json").send(presetAnswer(preset));
}

/** The answers for presets that several callers have asked for together. */
const largeAnswers = new WeakMap<Preset, Buffer>();

/**
 * Assembling a large answer takes milliseconds, and its size in memory. So it is done once for all callers that asked
 * together and share the preset: they are answered in one turn of the event loop.
 */
function presetAnswer(preset: Preset): string | Buffer {
  const known = largeAnswers.get(preset);
  if (known) return known;
  const json = `{"data":${presetJson(preset)}}`;
  if (json.length <= largeLength) return json;
  const bytes = Buffer.from(json);
  largeAnswers.set(preset, bytes);
  return bytes;
}

/** A preset as listed; with what it serves, if the service was asked for that. */
export function listedPresetJson(preset: Preset): string {
  const { serving } = preset;
  return JSON.stringify({
    id: preset.id,
    name: preset.name,
    slug: preset.slug,
    description: preset.description ?? null,
    status: statusNameOf(preset.status),
    status_updated_at: isoTime(preset.statusUpdateTime),
    created_at: isoTime(preset.createTime),
    updated_at: isoTime(preset.updateTime),
    creator_user_id: preset.creatorUserId,
    workspace_id: preset.workspaceId,
    designated_version_id: preset.designatedVersionId,
    serving: serving && {
      version: serving.version,
      newest_version: serving.newestVersion,
      model: serving.model ?? null,
    },
  });
}

/** A preset with its designated version. */
export function presetJson(preset: Preset): string {
  const version = preset.designatedVersion ? versionJson(preset.designatedVersion) : "null";
  return withMember(listedPresetJson(preset), "designated_version", version);
}

export function versionJson(version: PresetVersion): string {
  const fields = JSON.stringify({
    id: version.id,
    preset_id: version.presetId,
    version: version.version,
    system_prompt: version.systemPrompt ?? null,
    dialect: dialectNameOf(version.dialect),
    creator_id: version.creatorId,
    created_at: isoTime(version.createTime),
    updated_at: isoTime(version.updateTime),
  });
  return withMember(fields, "config", version.configJson);
}

export function changeJson(change: PresetChange): string {
  const fields = JSON.stringify({
    revision: change.revision,
    action: actionNameOf(change.action),
    user_id: change.userId,
    key_id: change.keyId,
    created_at: isoTime(change.createTime),
  });
  return withMember(fields, "changes", fieldChangesJson(change.fields));
}

/** A change beside those of other presets. */
export function workspaceChangeJson({ presetId, slug, name, change }: WorkspaceChange): string {
  if (!change) throw new Error("ListWorkspaceChanges answered without a change");
  const preset = JSON.stringify({ preset_id: presetId, preset_slug: slug, preset_name: name });
  return `${preset.slice(0, -1)},${changeJson(change).slice(1)}`;
}

/** Which config fields were added, removed or changed between two versions. */
export function diffJson(from: number, to: number, { config, systemPromptChanged }: DiffVersionsResponse): string {
  const added: string[] = [];
  const removed: string[] = [];
  const changed: string[] = [];
  for (const { key, fromJson, toJson } of config) {
    const name = JSON.stringify(key);
    if (fromJson === undefined) added.push(`${name}:${toJson}`);
    else if (toJson === undefined) removed.push(`${name}:${fromJson}`);
    else changed.push(`${name}:{"from":${fromJson},"to":${toJson}}`);
  }
  const parts = `"added":{${added.join(",")}},"removed":{${removed.join(",")}},"changed":{${changed.join(",")}}`;
  return `{"from":${from},"to":${to},"config":{${parts}},"system_prompt_changed":${systemPromptChanged}}`;
}

/** A JSON object with one more member, whose value is JSON text. */
function withMember(object: string, key: string, value: string): string {
  return `${object.slice(0, -1)},"${key}":${value}}`;
}
