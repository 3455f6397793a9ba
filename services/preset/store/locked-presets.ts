import { type PresetKey, presetKey } from "../domain/preset.ts";

/**
 * Presets whose row another session held for long. They are written in batches of their own, without waiting for the
 * lock.
 */
export class LockedPresets {
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
