import type { RequestBody } from "../request/request-body.ts";
import { type Edit, spliced } from "./splice.ts";

/** How an outgoing body differs from the incoming one. */
export interface BodyChanges {
  readonly body: RequestBody;
  /** New values of its members, by their keys; undefined: the member is left out. */
  readonly changes: ReadonlyMap<string, readonly Buffer[] | undefined>;
  /** New members by their keys, each written with its key. They follow the others. */
  readonly added: ReadonlyMap<string, readonly Buffer[]>;
}

const comma = Buffer.from(",");

/** The body with its changes, in pieces. Unchanged members stay the same, byte for byte. */
export function writeBody({ body: { bytes, members }, changes, added }: BodyChanges): Buffer[] {
  const edits: Edit[] = [];
  let hasMembers = false;
  // Where new members go: after the last one, or into an empty object.
  let end = members.length === 0 ? bytes.indexOf("{") + 1 : 0;
  for (const [index, { key, keyStart, valueStart, valueEnd }] of members.entries()) {
    const value = changes.get(key);
    if (value) edits.push({ from: valueStart, to: valueEnd, parts: value });
    // With the comma before it or, for the first one, the comma after it.
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
