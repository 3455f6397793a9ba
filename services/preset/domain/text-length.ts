import type { FieldViolation } from "../../platform/domain/domain-error.ts";

/** Lengths are counted in characters, as people count them, and not in UTF-16 units. */
export function lengthViolations(path: string, text: string, lengthMax: number): FieldViolation[] {
  if (text.length <= lengthMax || Array.from(text).length <= lengthMax) return [];
  return [{ path, message: `must have at most ${lengthMax} characters` }];
}
