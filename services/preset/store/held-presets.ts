import { type PresetKey, presetKey } from "../domain/preset.ts";

/** Presets whose row someone outside was seen to hold for long. They are written by themselves, and not waited for. */
export class HeldPresets {
  readonly #keys = new Set<string>();

  has(preset: PresetKey): boolean {
    return this.#keys.size > 0 && this.#keys.has(presetKey(preset));
  }

  add(preset: PresetKey): void {
    this.#keys.add(presetKey(preset));
  }

  delete(preset: PresetKey): void {
    this.#keys.delete(presetKey(preset));
  }
}
