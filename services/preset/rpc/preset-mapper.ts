import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ConfigDifferenceSchema,
  Dialect as DialectMessage,
  type PresetSchema,
  type PresetVersionSchema,
  PresetStatus as StatusMessage,
} from "../../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import type {
  CreateVersionRequest,
  ListPresetsRequest,
  UpdatePresetRequest,
} from "../../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { type FieldViolation, invalidRequest } from "../../platform/domain/domain-error.ts";
import { checkCount } from "../../platform/rpc/element-count.ts";
import { fieldsOfMask } from "../../platform/rpc/field-mask.ts";
import { namesByNumber } from "../../platform/rpc/names-by-number.ts";
import type { ConfigDifference } from "../domain/diff-versions.ts";
import type { VersionDraft } from "../domain/new-version.ts";
import { type Dialect, etagOf, type Preset, type PresetVersion, type ServedPreset } from "../domain/preset.ts";
import { type PresetFilter, queryViolations } from "../domain/preset-filter.ts";
import type { PresetUpdate } from "../domain/update-preset.ts";

type PresetChanges = Omit<PresetUpdate, "slug" | "etags" | "requestId">;

const statusMessages = {
  active: StatusMessage.ACTIVE,
  disabled: StatusMessage.DISABLED,
  archived: StatusMessage.ARCHIVED,
} as const;

const statusesByMessage = namesByNumber(statusMessages);

const dialectMessages = {
  "chat/completions": DialectMessage.CHAT_COMPLETIONS,
  messages: DialectMessage.MESSAGES,
  responses: DialectMessage.RESPONSES,
} as const;

const dialectsByMessage = new Map<number, Dialect | undefined>([
  [DialectMessage.UNSPECIFIED, undefined],
  ...namesByNumber(dialectMessages),
]);

/** With the designated version, if the preset has it. */
export function toPresetMessage(preset: Preset | ServedPreset): MessageInitShape<typeof PresetSchema> {
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
    designatedVersionNumber: preset.designatedNumber,
    designatedVersion: "designatedVersion" in preset ? toVersionMessage(preset.designatedVersion) : undefined,
    etag: etagOf(preset),
    revision: preset.revision,
  };
}

/** A preset as listed, with a summary of what it serves. */
export function toServingPresetMessage(
  preset: Preset,
  model: string | undefined,
): MessageInitShape<typeof PresetSchema> {
  const { designatedNumber: version, latestVersion: newestVersion } = preset;
  return Object.assign(toPresetMessage(preset), { serving: { version, newestVersion, model } });
}

export function toVersionMessage(version: PresetVersion): MessageInitShape<typeof PresetVersionSchema> {
  const createTime = timestampFromDate(version.createdAt);
  return {
    id: version.id,
    presetId: version.presetId,
    version: version.version,
    configJson: version.configJson,
    systemPrompt: version.systemPrompt,
    // A dialect that only a later release knows counts as unknown.
    dialect: (version.dialect && dialectMessages[version.dialect]) ?? DialectMessage.UNSPECIFIED,
    creatorId: version.creatorId,
    createTime,
    updateTime: createTime,
  };
}

export function toDifferenceMessage({
  key,
  from,
  to,
}: ConfigDifference): MessageInitShape<typeof ConfigDifferenceSchema> {
  return { key, fromJson: from, toJson: to };
}

/** A number that is not a dialect becomes a word that is not one, to be refused together with all other violations. */
export function fromCreateVersionRequest(request: CreateVersionRequest): VersionDraft {
  const { slug, configJson, systemPrompt, requestId, requestDigest, etags } = request;
  const dialect = dialectsByMessage.has(request.dialect) ? dialectsByMessage.get(request.dialect) : "unknown";
  return { slug, configJson, systemPrompt, dialect, requestId, requestDigest, etags };
}

export function fromListPresetsRequest({ statuses, query }: ListPresetsRequest): PresetFilter {
  checkCount("statuses", statuses);
  const violations: FieldViolation[] = [];
  const known = statuses.flatMap((message, index) => {
    const status = statusesByMessage.get(message);
    if (!status) violations.push({ path: `statuses[${index}]`, message: "must be a known status" });
    return status ?? [];
  });
  violations.push(...queryViolations(query));
  if (violations.length > 0) throw invalidRequest(violations);
  return { statuses: [...new Set(known)], text: query };
}

/** Reads only the fields that the mask names. */
export function fromUpdatePresetRequest(request: UpdatePresetRequest): PresetUpdate {
  const { slug, etags, requestId } = request;
  const changes = fieldsOfMask<PresetChanges>(request.updateMask, {
    name: () => ({ name: request.name }),
    description: () => ({ description: request.description ?? null }),
    designated_version: () => ({ designatedVersion: request.designatedVersion }),
    status: (violations) => {
      const status = statusesByMessage.get(request.status);
      if (status) return { status };
      violations.push({ path: "status", message: "must be a known status" });
      return {};
    },
  });
  return { slug, etags, requestId, ...changes };
}
