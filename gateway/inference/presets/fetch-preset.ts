import { int32Max } from "../../../services/platform/domain/limits.ts";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import type { PresetClient } from "../../clients/preset-client.ts";
import type { PresetContent } from "../preset-content.ts";
import { isPresetNotFound, versionNotFound } from "../preset-refusals.ts";
import type { PresetReference } from "../request/model-reference.ts";
import type { InferenceCaller } from "./inference-caller.ts";
import { KnownPreset, KnownVersion } from "./known-preset.ts";
import { NearestSlugs } from "./nearest-slugs.ts";

type FetchPreset = (caller: InferenceCaller, reference: PresetReference) => Promise<PresetContent>;

/**
 * Creates a function that fetches the version that a reference names, always as it is stored now. It throws if there is
 * none, or if the preset is disabled or archived.
 */
export function presetFetcher(presets: PresetClient): FetchPreset {
  const nearest = new NearestSlugs(presets);

  async function getPreset(caller: InferenceCaller, slug: string): Promise<KnownPreset> {
    const askedAtMs = monotonicMs();
    try {
      const preset = await caller.call((options) => presets.getPreset({ slug }, options));
      return new KnownPreset(preset, askedAtMs, undefined);
    } catch (error) {
      throw isPresetNotFound(error) ? await nearest.refusalOf(slug, caller) : error;
    }
  }

  return async (caller, { slug, version: number }) => {
    if (number !== undefined && number > int32Max) throw versionNotFound(slug, number);
    const preset = await getPreset(caller, slug);
    const refusal = preset.refusal();
    if (refusal) throw refusal;
    const { content } = preset.designated;
    if (number === undefined || number === content.version) return content;
    const { version } = await caller.call((options) => presets.getVersion({ slug, version: number }, options));
    if (!version) throw new Error("The preset service answered without a version");
    return new KnownVersion(slug, version).content;
  };
}
