import type { PresetStatus } from "../api/types.ts";

const looks: Readonly<Record<PresetStatus, string>> = { active: "good", disabled: "warn", archived: "" };

export function StatusBadge({ status }: { readonly status: PresetStatus }) {
  return <span class={`badge ${looks[status]}`}>{status[0]?.toUpperCase() + status.slice(1)}</span>;
}
