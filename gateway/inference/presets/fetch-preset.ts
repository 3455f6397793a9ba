import type { Preset } from "../../../proto/gen/setpoint/preset/v1/preset_pb.ts";
import { int32Max } from "../../../services/platform/domain/limits.ts";
import type { PresetClient } from "../../clients/preset-client.ts";
import { contentOf, type PresetContent } from "../preset-content.ts";
import { isPresetNotFound, refusalOf, versionNotFound } from "../preset-refusals.ts";
import type { PresetReference } from "../request/model-reference.ts";
import type { InferenceCaller } from "./inference-caller.ts";
import { NearestSlugs } from "./nearest-slugs.ts";

type FetchPreset = (caller: InferenceCaller, reference: PresetReference) => Promise<PresetContent>;

/**
 * Creates a function that fetches the version that a reference names, always as it is stored now. It throws if there is
 * none, or if the preset is disabled or archived.
 */
export function presetFetcher(presets: PresetClient): FetchPreset {
  const nearest = new NearestSlugs(presets);

  async function getPreset(caller: InferenceCaller, slug: string): Promise<Preset> {
    try {
      return await caller.call((options) => presets.getPreset({ slug }, options));
    } catch (error) {
      throw isPresetNotFound(error) ? await nearest.refusalOf(slug, caller) : error;
    }
  }

  return async (caller, { slug, version: number }) => {
    if (number !== undefined && number > int32Max) throw versionNotFound(slug, number);
    const preset = await getPreset(caller, slug);
    const refusal = refusalOf(preset);
    if (refusal) throw refusal;
    let version = preset.designatedVersion;
    if (number !== undefined && number !== version?.version) {
      ({ version } = await caller.call((options) => presets.getVersion({ slug, version: number }, options)));
    }
    if (!version) throw new Error("The preset service answered without a version");
    return contentOf(slug, version);
  };
}
