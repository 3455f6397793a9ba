import { type FieldViolation, violationsMax } from "../domain/domain-error.ts";
import {
  closeBrace,
  closeBracket,
  colon,
  type MemberOutline,
  openBrace,
  openBracket,
  quote,
  stringEnd,
  stringValue,
} from "./json-outline.ts";
import { pathsTo } from "./json-paths.ts";

/** Keys that occur twice in one object, within these members. Readers of the JSON differ on which of the two counts. */
export function repetitionViolations(
  { text, path }: { readonly text: string; readonly path: string },
  members: readonly { readonly value: unknown; readonly place: MemberOutline }[],
): FieldViolation[] {
  const places: number[] = [];
  for (const { value, place } of members) {
    // JSON.parse keeps one of two, so comparing the counts is enough, and most texts need no closer look.
    if (place.innerMembers !== 0 && place.innerMembers !== countMembers(value)) findRepetitions(text, place, places);
  }
  if (places.length === 0) return [];
  return [...new Set(pathsTo(text, path, places).values())].map((each) => ({ path: each, message: isRepeated }));
}

export const isRepeated = "must be given only once";

/** How many members there are inside a value, at any depth. */
function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value) count += countMembers(element);
  } else {
    const members = value as Record<string, unknown>;
    for (const key in members) count += 1 + countMembers(members[key]);
  }
  return count;
}

/** Adds the colons of members whose key their object already has. */
function findRepetitions(text: string, { keyEnd, end }: MemberOutline, places: number[]): void {
  const open: Set<string>[] = [];
  let lastString = 0;
  for (let at = keyEnd; at < end && places.length < violationsMax; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      lastString = at;
      at = stringEnd(text, at);
    } else if (code === colon) {
      const keys = open.at(-1);
      // The colon of the member itself.
      if (keys === undefined) continue;
      const key = stringValue(text.slice(lastString, stringEnd(text, lastString) + 1));
      if (keys.has(key)) places.push(at);
      keys.add(key);
    } else if (code === openBrace || code === openBracket) {
      open.push(new Set());
    } else if (code === closeBrace || code === closeBracket) {
      open.pop();
    }
  }
}
