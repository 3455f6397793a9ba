import type { FieldViolation } from "../../platform/domain/domain-error.ts";
import { etagOf, type Preset } from "./preset.ts";

const etagsMax = 100;
/** Stands for whatever etag a preset has. */
const anyEtag = "*";
/**
 * Stands for a preset that does not exist. A service that does not know this value finds no matching preset, and
 * creates nothing.
 */
const noEtag = "-";

export function etagsViolations(etags: readonly string[]): FieldViolation[] {
  if (etags.length <= etagsMax) return [];
  return [{ path: "etags", message: `must have at most ${etagsMax} elements` }];
}

/** Whether a preset is as the caller expects who sent these etags. Without etags, anything is. */
export function matchesEtags(preset: Preset | undefined, etags: readonly string[]): boolean {
  if (etags.length === 0) return true;
  if (preset === undefined) return etags.includes(noEtag);
  return etags.includes(etagOf(preset)) || etags.includes(anyEtag);
}

/** Whether the caller wants to create a preset, and not to touch an existing one. */
export function isNewPresetExpected(etags: readonly string[]): boolean {
  return etags.includes(noEtag);
}
