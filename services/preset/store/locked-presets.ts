import { LRUCache } from "lru-cache";
import { type PresetKey, presetKey } from "../domain/preset.ts";

/** One that is forgotten too early costs its next batch one more wait for the lock. */
const keysMax = 1_000;

/**
 * Presets whose row another session held for long. They are written in batches of their own, without waiting for the
 * lock.
 */
export class LockedPresets {
  readonly #keys = new LRUCache<string, true>({ max: keysMax });

  has(preset: PresetKey): boolean {
    return this.#keys.size > 0 && this.#keys.has(presetKey(preset));
  }

  add(preset: PresetKey): void {
    this.#keys.set(presetKey(preset), true);
  }

  delete(preset: PresetKey): void {
    this.#keys.delete(presetKey(preset));
  }
}
