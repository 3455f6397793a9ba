import type { FieldViolation } from "../../platform/domain/domain-error.ts";
import { etagOf, type Preset } from "./preset.ts";

const etagsMax = 100;
/** Stands for whatever etag a preset has. */
const anyEtag = "*";

export function etagsViolations(etags: readonly string[]): FieldViolation[] {
  if (etags.length <= etagsMax) return [];
  return [{ path: "etags", message: `must have at most ${etagsMax} elements` }];
}

/** Whether a preset is as whoever names these etags expects it. Where they name none, they expect nothing. */
export function isAsExpected(preset: Preset | undefined, etags: readonly string[]): boolean {
  if (etags.length === 0) return true;
  return preset !== undefined && (etags.includes(etagOf(preset)) || etags.includes(anyEtag));
}
