import { containsKey } from "../../../services/platform/auth/key-format.ts";

/** No spaces: what has some may be a prompt in the wrong place. */
const namePattern = /^[\w.:/@+~-]{1,200}$/;

/** Whether a text that a caller or an upstream wrote can be the name of something, and is not a key. */
export function isName(text: string): boolean {
  return namePattern.test(text) && !containsKey(text);
}

/** The name of a model, or the slug of a preset, as logs and traces show it. */
export function shownName(name: string): string {
  return isName(name) ? name : "unknown";
}
