import type { PresetStatus } from "../api/types.ts";
import { capitalized } from "./capitalized.ts";

const looks: Readonly<Record<PresetStatus, string>> = { active: "is-quiet", disabled: "warn", archived: "" };

/** Most presets are active, which needs no attention. What stands out is what gets refused. */
export function StatusBadge({ status }: { readonly status: PresetStatus }) {
  return <span class={`badge ${looks[status]}`}>{capitalized(status)}</span>;
}
