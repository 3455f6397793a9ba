import type { PresetStatus } from "../../api/types.ts";

/** The verb for a change of status: somebody "disabled" the preset. */
export function statusVerb(from: PresetStatus, to: PresetStatus): string {
  if (to !== "active") return to;
  return from === "archived" ? "restored" : "enabled";
}
