import type { FieldViolation } from "./domain-error.ts";
import { contentBytesMax, requestIdLengthMax, requestIdPattern } from "./limits.ts";

/** Lengths are counted in characters, as people count them, and not in UTF-16 units, of which a character has one or two. */
export function isLongerThan(text: string, lengthMax: number): boolean {
  if (text.length <= lengthMax) return false;
  // Counting takes time, and whoever sends megabytes for a name need not know the exact number.
  return text.length > 2 * lengthMax || Array.from(text).length > lengthMax;
}

export function lengthViolations(path: string, text: string, lengthMax: number): FieldViolation[] {
  return isLongerThan(text, lengthMax) ? [{ path, message: `must have at most ${lengthMax} characters` }] : [];
}

/** For a config or a system prompt, as it is stored. */
export function sizeViolations(path: string, text: string): FieldViolation[] {
  // No UTF-16 unit takes more than three bytes, so most texts need not be measured.
  const bytes = text.length * 3 > contentBytesMax ? Buffer.byteLength(text) : 0;
  if (bytes <= contentBytesMax) return [];
  return [{ path, message: `must be at most ${contentBytesMax} bytes of UTF-8 in all, and is ${bytes}` }];
}

/** For text that will be UTF-8, which cannot express unpaired surrogates. */
export function surrogateViolations(path: string, text: string): FieldViolation[] {
  return text.isWellFormed() ? [] : [{ path, message: "must not contain an unpaired surrogate" }];
}

/** Empty counts as not given. Not only for UUIDs: the ids of users have another form. */
export function idViolations(path: string, id: string): FieldViolation[] {
  return id === "" || /^[\w-]{1,64}$/.test(id) ? [] : [{ path, message: "must be an id" }];
}

/** Empty counts as not given. */
export function requestIdViolations(requestId: string): FieldViolation[] {
  if (requestId === "" || requestIdPattern.test(requestId)) return [];
  return [{ path: "request_id", message: `must be at most ${requestIdLengthMax} printable ASCII characters` }];
}
