import type { PreparedPreset } from "./prepared-preset.ts";
import { pointer } from "./provenance.ts";

/** The preset for a call that takes only some fields. The system prompt stays. What is left out counts as dropped. */
export function narrowedPreset(preset: PreparedPreset, taken: readonly string[], call: string): PreparedPreset {
  const fields = new Map(preset.fields);
  const dropped = [...preset.dropped];
  for (const key of preset.fields.keys()) {
    if (taken.includes(key)) continue;
    fields.delete(key);
    const field = preset.movedFrom.get(pointer(key)) ?? pointer(key);
    dropped.push({ field, from: "preset", reason: `is not taken by ${call}` });
  }
  return { ...preset, fields, dropped };
}
