import { type PresetKey, presetKey } from "../domain/preset.ts";

/** One that is forgotten too early costs its next batch one more wait for the lock. */
const keysMax = 1_000;

/**
 * Presets whose row another session held for long. They are written in batches of their own, without waiting for the
 * lock.
 */
export class LockedPresets {
  /** In the order in which they were last found locked. */
  readonly #keys = new Set<string>();

  has(preset: PresetKey): boolean {
    return this.#keys.size > 0 && this.#keys.has(presetKey(preset));
  }

  add(preset: PresetKey): void {
    const key = presetKey(preset);
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size <= keysMax) return;
    const [oldest] = this.#keys;
    this.#keys.delete(oldest as string);
  }

  delete(preset: PresetKey): void {
    this.#keys.delete(presetKey(preset));
  }
}
