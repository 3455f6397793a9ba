import { containsKey } from "../../../services/platform/auth/key-format.ts";

const shownLengthMax = 200;

/**
 * The name of a model, or the slug of a preset, as logs and traces show it. These are texts that a caller wrote, and a
 * preset of an earlier release may have a key as its slug.
 */
export function shownName(name: string): string {
  return name.length > shownLengthMax || containsKey(name) ? "unknown" : name;
}
