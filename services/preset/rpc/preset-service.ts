import { create } from "@bufbuild/protobuf";
import {
  type CreateVersionRequest,
  CreateVersionRequestSchema,
  type GetPresetRequest,
  type PresetService,
} from "../../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { requirePermission, requireWorkspace } from "../../platform/auth/principal.ts";
import { newId } from "../../platform/domain/ids.ts";
import { pageFrom } from "../../platform/domain/page.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { outcomeUnknown } from "../../platform/mysql/refusals.ts";
import { retryTransient } from "../../platform/mysql/transaction.ts";
import type { CallContext } from "../../platform/rpc/call-context.ts";
import type { Implementation } from "../../platform/rpc/service.ts";
import { checkBatch } from "../domain/batch.ts";
import { diffVersions } from "../domain/diff-versions.ts";
import { presetNotFound, versionNotFound } from "../domain/errors.ts";
import { newVersion } from "../domain/new-version.ts";
import type { PresetVersion, ServedPreset } from "../domain/preset.ts";
import { mostSimilar } from "../domain/similar-slug.ts";
import { checkSlug } from "../domain/slug.ts";
import { checkUpdate } from "../domain/update-preset.ts";
import { checkVersionNumber } from "../domain/version-number.ts";
import type { PresetLists } from "../store/preset-lists.ts";
import type { PresetReader } from "../store/preset-reader.ts";
import type { Admit } from "../store/sized-lookup.ts";
import { updatePreset } from "../store/update-preset.ts";
import type { VersionWriter } from "../store/version-writer.ts";
import { fromListWorkspaceChangesRequest, toChangeMessage, toWorkspaceChangeMessage } from "./change-mapper.ts";
import { admitForAnswer, contentBytes, outcomesOf } from "./outcomes.ts";
import {
  fromCreateVersionRequest,
  fromListPresetsRequest,
  fromUpdatePresetRequest,
  toDifferenceMessage,
  toPresetMessage,
  toServingPresetMessage,
  toVersionMessage,
} from "./preset-mapper.ts";

/** What the methods are made of. */
interface PresetStore {
  /** Only for changes, which may wait for each other. */
  readonly updatePool: Pool;
  readonly lists: PresetLists;
  readonly reader: PresetReader;
  readonly writer: VersionWriter;
}

type PresetRead = Pick<GetPresetRequest, "slug" | "knownVersionId">;

export function presetService({
  updatePool,
  lists,
  reader,
  writer,
}: PresetStore): Implementation<typeof PresetService> {
  const getVersion = async (
    workspaceId: string,
    slug: string,
    version: number,
    context: CallContext,
  ): Promise<PresetVersion> => {
    checkSlug(slug);
    const found = await reader.findVersion(workspaceId, slug, version, context, context.admit);
    if (found) return found;
    throw (await reader.hasPreset(workspaceId, slug, context)) ? versionNotFound(slug, version) : presetNotFound(slug);
  };

  const createVersion = async (request: CreateVersionRequest, context: CallContext): Promise<ServedPreset> =>
    writer.createVersion(newVersion(context.principal, fromCreateVersionRequest(request)), context);

  const getPreset = async (
    { slug, knownVersionId }: PresetRead,
    context: CallContext,
    admit: Admit = context.admit,
  ): Promise<ServedPreset> => {
    const workspaceId = workspaceToUse(context);
    checkSlug(slug);
    const preset = await reader.findPreset(workspaceId, slug, context, admit, knownVersionId);
    if (!preset) throw presetNotFound(slug);
    return preset;
  };

  return {
    async createVersion(request, context) {
      return { preset: toPresetMessage(await createVersion(request, context)) };
    },

    async batchCreateVersions({ requests, creations }, context) {
      checkBatch(["requests", requests], ["creations", creations]);
      const parts = [
        ...requests.map((part) => ({ part })),
        ...creations.map(({ request = missingRequest, ...caller }) => ({ caller, part: request })),
      ];
      const sentBytesOf = ({ configJson, systemPrompt }: CreateVersionRequest) =>
        contentBytes(configJson, systemPrompt);
      const rules = { sentBytesOf, lateError: outcomeUnknown };
      return { outcomes: await outcomesOf(parts, context, createVersion, rules) };
    },

    async getPreset(request, context) {
      return { preset: toPresetMessage(await getPreset(request, context)) };
    },

    async batchGetPresets({ slugs, reads }, context) {
      checkBatch(["slugs", slugs], ["reads", reads]);
      const parts = [
        ...slugs.map((slug) => ({ part: { slug, knownVersionId: "" } })),
        ...reads.map((read) => ({ caller: read, part: read })),
      ];
      // A single read delays nobody.
      const admit = parts.length > 1 ? admitForAnswer(context.admit) : context.admit;
      return { outcomes: await outcomesOf(parts, context, (read, partContext) => getPreset(read, partContext, admit)) };
    },

    async listPresets(request, context) {
      const workspaceId = workspaceToUse(context);
      const page = pageFrom(request);
      const filter = fromListPresetsRequest(request);
      const { presets, totalCount } = await lists.listPresets(workspaceId, filter, page, context);
      if (!request.includeServing) return { presets: presets.map(toPresetMessage), totalCount };
      const versionIds = presets.map(({ designatedVersionId }) => designatedVersionId);
      const models = await lists.findModels(workspaceId, versionIds, context);
      const messages = presets.map((preset) => toServingPresetMessage(preset, models.get(preset.designatedVersionId)));
      return { presets: messages, totalCount };
    },

    async updatePreset(request, context) {
      requirePermission(context.principal, "presets:write");
      const workspaceId = requireWorkspace(context.principal);
      const update = { ...fromUpdatePresetRequest(request), requestId: request.requestId || newId() };
      checkUpdate(update);
      const { deadlineMs } = context;
      const preset = await retryTransient(deadlineMs, () =>
        updatePreset(updatePool, workspaceId, context.principal, update, context),
      );
      return { preset: toPresetMessage(preset) };
    },

    async getVersion({ slug, version }, context) {
      const workspaceId = workspaceToUse(context);
      checkVersionNumber("version", version);
      return { version: toVersionMessage(await getVersion(workspaceId, slug, version, context)) };
    },

    async findSimilarSlug({ slug }, context) {
      const workspaceId = workspaceToUse(context);
      checkSlug(slug);
      const slugs = await lists.listSlugsNear(workspaceId, slug, context);
      return { slug: mostSimilar(slug, slugs) ?? "" };
    },

    async listVersions(request, context) {
      const workspaceId = workspaceToRead(context);
      const page = pageFrom(request);
      checkSlug(request.slug);
      const found = await lists.listVersions(workspaceId, request.slug, page, context);
      if (!found) throw presetNotFound(request.slug);
      return { versions: found.versions.map(toVersionMessage), totalCount: found.totalCount };
    },

    async diffVersions({ slug, fromVersion, toVersion }, context) {
      const workspaceId = workspaceToRead(context);
      checkVersionNumber("from_version", fromVersion);
      checkVersionNumber("to_version", toVersion);
      const [from, to] = await Promise.all([
        getVersion(workspaceId, slug, fromVersion, context),
        getVersion(workspaceId, slug, toVersion, context),
      ]);
      const { config, systemPromptChanged } = await diffVersions(from, to);
      return { config: config.map(toDifferenceMessage), systemPromptChanged };
    },

    async listChanges(request, context) {
      const workspaceId = workspaceToRead(context);
      const page = pageFrom(request);
      checkSlug(request.slug);
      const found = await lists.listChanges(workspaceId, request.slug, page, context);
      if (!found) throw presetNotFound(request.slug);
      return { changes: found.changes.map(toChangeMessage), totalCount: found.totalCount };
    },

    async listWorkspaceChanges(request, context) {
      const workspaceId = workspaceToRead(context);
      const page = pageFrom(request);
      const filter = fromListWorkspaceChangesRequest(request);
      const { changes, totalCount } = await lists.listWorkspaceChanges(workspaceId, filter, page, context);
      return { changes: changes.map(toWorkspaceChangeMessage), totalCount };
    },
  };
}

/** Stands in for a missing request, which is refused for what it lacks. */
const missingRequest = create(CreateVersionRequestSchema);

function workspaceToRead({ principal }: CallContext): string {
  requirePermission(principal, "presets:read");
  return requireWorkspace(principal);
}

/**
 * For using presets, and for seeing which there are: an application may do so without being allowed to see their
 * history.
 */
function workspaceToUse({ principal }: CallContext): string {
  requirePermission(principal, "presets:read", "inference");
  return requireWorkspace(principal);
}
