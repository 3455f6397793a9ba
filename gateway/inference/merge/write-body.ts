import type { RequestBody } from "../request/request-body.ts";
import { type Edit, spliced } from "./splice.ts";

/** How a body goes out otherwise than it came. */
export interface BodyChanges {
  readonly body: RequestBody;
  /** New values of its members, by their keys; undefined: the member is left out. */
  readonly changes: ReadonlyMap<string, readonly Buffer[] | undefined>;
  /** Members that it does not have, each with its key, behind its own. */
  readonly added: ReadonlyMap<string, readonly Buffer[]>;
}

const comma = Buffer.from(",");

/** The body with its changes, in pieces. Members that are not changed stay as they are, to the byte. */
export function writeBody({ body: { bytes, members }, changes, added }: BodyChanges): Buffer[] {
  const edits: Edit[] = [];
  let hasMembers = false;
  // Where there are members, the end of one takes its place.
  let end = members.length === 0 ? bytes.indexOf("{") + 1 : 0;
  for (const [index, { key, keyStart, valueStart, valueEnd }] of members.entries()) {
    const value = changes.get(key);
    if (value) edits.push({ from: valueStart, to: valueEnd, parts: value });
    // With the comma in front of it, or behind it where nothing stands in front.
    else if (changes.has(key) && hasMembers) edits.push({ from: end, to: valueEnd, parts: [] });
    else if (changes.has(key)) edits.push({ from: keyStart, to: members[index + 1]?.keyStart ?? valueEnd, parts: [] });
    hasMembers ||= value !== undefined || !changes.has(key);
    end = valueEnd;
  }
  const more: Buffer[] = [];
  for (const member of added.values()) {
    if (hasMembers) more.push(comma);
    more.push(...member);
    hasMembers = true;
  }
  edits.push({ from: end, to: end, parts: more });
  return spliced(bytes, edits);
}
