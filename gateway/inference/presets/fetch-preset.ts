import { type Preset, PresetStatus, type PresetVersion } from "../../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { isOfKind } from "../../../services/platform/domain/domain-error.ts";
import { int32Max } from "../../../services/platform/domain/limits.ts";
import { nearest } from "../../../services/platform/process/nearest.ts";
import type { CallOptions } from "../../../services/platform/rpc/grpc-client.ts";
import type { PresetClient } from "../../clients/preset-client.ts";
import { dialectNameOf } from "../../dialects/dialect-name.ts";
import type { PresetContent } from "../preset-content.ts";
import { presetArchived, presetDisabled, presetNotFound, versionNotFound } from "../preset-refusals.ts";
import type { PresetReference } from "../request/preset-reference.ts";

/** Who asks; calls services in their name. */
interface Caller {
  call<T>(rpc: (options: CallOptions) => Promise<T>): Promise<T>;
}

/** The version that a reference names, as it is stored now. Throws where there is none, or the preset is out of use. */
export async function fetchPreset(
  caller: Caller,
  presets: PresetClient,
  { slug, version: number }: PresetReference,
): Promise<PresetContent> {
  if (number !== undefined && number > int32Max) throw versionNotFound(slug, number);
  const preset = await getPreset(caller, presets, slug);
  requireActive(preset);
  const { designatedVersion } = preset;
  if (number === undefined || number === designatedVersion?.version) return contentOf(slug, designatedVersion);
  try {
    const { version } = await caller.call((options) => presets.getVersion({ slug, version: number }, options));
    return contentOf(slug, version);
  } catch (error) {
    throw isOfKind(error, "not_found") ? versionNotFound(slug, number) : error;
  }
}

async function getPreset(caller: Caller, presets: PresetClient, slug: string): Promise<Preset> {
  try {
    return await caller.call((options) => presets.getPreset(slug, options));
  } catch (error) {
    if (!isOfKind(error, "not_found")) throw error;
    const { presets: others } = await caller.call((options) => presets.listPresets(newest, options));
    throw presetNotFound(slug, nearestSlug(slug, others));
  }
}

/** Among which presets the one is sought that was meant. */
const newest = { offset: 0, limit: 50 };

/** Comparing takes time by the square of this. */
const comparedLengthMax = 64;

function nearestSlug(slug: string, others: readonly Preset[]): string | undefined {
  if (slug.length > comparedLengthMax) return undefined;
  const slugs = others.map((other) => other.slug);
  return nearest(
    slug,
    slugs.filter((other) => other.length <= comparedLengthMax),
  );
}

/** Throws where a preset is out of use. */
export function requireActive({ slug, status }: Pick<Preset, "slug" | "status">): void {
  if (status === PresetStatus.DISABLED) throw presetDisabled(slug);
  if (status === PresetStatus.ARCHIVED) throw presetArchived(slug);
}

export function contentOf(slug: string, version: PresetVersion | undefined): PresetContent {
  if (!version) throw new Error("The preset service answered without a version");
  const { id, configJson, systemPrompt } = version;
  return {
    slug,
    version: version.version,
    versionId: id,
    dialect: dialectNameOf(version.dialect),
    configJson,
    systemPrompt,
  };
}
