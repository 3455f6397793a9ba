import type { FieldViolation } from "../../platform/domain/domain-error.ts";
import { presetQueryLengthMax } from "../../platform/domain/limits.ts";
import { lengthViolations } from "../../platform/domain/text-violations.ts";
import type { PresetStatus } from "./preset.ts";

/** Which presets of a workspace; empty statuses or text: all. */
export interface PresetFilter {
  readonly statuses: readonly PresetStatus[];
  /** Part of the slug, name or description, ignoring case. */
  readonly text: string;
}

export function queryViolations(query: string): FieldViolation[] {
  return lengthViolations("query", query, presetQueryLengthMax);
}
