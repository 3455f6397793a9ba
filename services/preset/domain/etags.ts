import type { FieldViolation } from "../../platform/domain/domain-error.ts";
import { etagOf, type Preset } from "./preset.ts";

const etagsMax = 100;
/** Stands for whatever etag a preset has. */
const anyEtag = "*";
/** Stands for there being no preset. A service that does not know it yet finds no preset as expected, and makes nothing. */
const noEtag = "-";

export function etagsViolations(etags: readonly string[]): FieldViolation[] {
  if (etags.length <= etagsMax) return [];
  return [{ path: "etags", message: `must have at most ${etagsMax} elements` }];
}

/** Whether a preset is as whoever names these etags expects it. If they name none, they expect nothing. */
export function isAsExpected(preset: Preset | undefined, etags: readonly string[]): boolean {
  if (etags.length === 0) return true;
  if (preset === undefined) return etags.includes(noEtag);
  return etags.includes(etagOf(preset)) || etags.includes(anyEtag);
}

/** Whether whoever names these etags wants to make a preset, and to touch none. */
export function areForNewPreset(etags: readonly string[]): boolean {
  return etags.includes(noEtag);
}
