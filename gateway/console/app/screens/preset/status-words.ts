import type { PresetStatus } from "../../api/types.ts";

/** What somebody did who changed the status of a preset: "disabled" it. */
export function statusVerb(from: PresetStatus, to: PresetStatus): string {
  if (to !== "active") return to;
  return from === "archived" ? "restored" : "enabled";
}
