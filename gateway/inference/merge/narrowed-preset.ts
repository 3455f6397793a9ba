import { type PreparedPreset, presetField } from "./prepared-preset.ts";
import { pointer } from "./provenance.ts";

/**
 * The preset for a call that takes only some fields, and one model: the first of a list. The system prompt stays. What
 * is left out counts as dropped.
 */
export function narrowedPreset(preset: PreparedPreset, taken: readonly string[], call: string): PreparedPreset {
  const model = preset.model ?? preset.models[0];
  const fields = new Map(preset.fields);
  if (model !== undefined) fields.set("model", presetField("model", JSON.stringify(model)));
  const dropped = [...preset.dropped];
  for (const key of preset.fields.keys()) {
    if (taken.includes(key)) continue;
    fields.delete(key);
    const field = preset.movedFrom.get(pointer(key)) ?? pointer(key);
    dropped.push({ field, from: "preset", reason: `is not taken by ${call}` });
  }
  return { ...preset, fields, model, models: [], dropped };
}
