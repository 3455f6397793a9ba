import { type FieldViolation, invalidRequest } from "../domain/domain-error.ts";
import { nextTurn } from "../time/next-turn.ts";
import { parseEscapedKeys } from "./escaped-keys.ts";
import { fieldPath } from "./field-path.ts";
import {
  digit9,
  findOutline,
  type MemberOutline,
  minus,
  type Outline,
  quote,
  space,
  spaceEnd,
  stringEnd,
  stringValue,
  wordEnd,
} from "./json-outline.ts";
import { JsonScan } from "./json-scan.ts";
import { numberViolations } from "./number-violations.ts";
import { isRepeated, repetitionViolations } from "./repetition-violations.ts";

// A JavaScript object does not preserve JSON text: it reorders integer-like keys, reads 1.0 as 1, rounds long integers
// and drops the first of two members with the same name. So JSON that must be kept verbatim is sliced from the text
// itself. Only JSON.parse decides whether a text is JSON.

/** A JSON object and the text it was sent as. Made by `parseJsonObject`. */
export interface JsonObject {
  /** What JSON.parse returns for the text: for inspection, not for writing back. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** In the order they were sent. Of a repeated key the last member counts, as in JSON.parse. */
  readonly members: readonly JsonMember[];
  readonly repeatedKeys: readonly string[];
  readonly longNumbers: readonly number[];
  /** Where the object is in the request; the paths of violations inside it begin with this. */
  readonly path: string;
}

/** A member of a JSON object: its value, and its position in the text. */
interface JsonMember {
  readonly key: string;
  readonly value: unknown;
  readonly place: MemberOutline;
}

/** Throws an invalid request if the text is not JSON, not an object, nested too deep or has too many values. */
export function parseJsonObject(text: string, path = ""): JsonObject {
  // The outline comes first: parsing millions of values only to refuse them would take seconds.
  const outline = outlineOf(text, path);
  const value = parseJson(text, outline);
  if (value === undefined && path === "" && text.length <= longTextLength) refuseBody(text);
  return jsonObject(text, path, outline, value);
}

/** From this length on, reading a text may take so long that others should get a turn in between. */
export const longTextLength = 65_536;

/** The same for a long text. */
export async function parseLongJsonObject(text: string): Promise<JsonObject> {
  await nextTurn();
  const outline = outlineOf(text, "");
  await nextTurn();
  let value = parsedAsIs(text);
  if (value === undefined) await refuseLongBody(text);
  await nextTurn();
  if (value !== undefined && outline.hasEscapedKey) {
    value = parseEscapedKeys(text);
    await nextTurn();
  }
  return jsonObject(text, "", outline, value);
}

/** Throws an invalid request that says where the body is not JSON. */
function refuseBody(text: string): void {
  const bytes = Buffer.from(text);
  new JsonScan(bytes).read(bytes.length);
}

/** The same for a long body. */
async function refuseLongBody(text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const scan = new JsonScan(bytes);
  for (let read = 0; read < bytes.length; read += bytesPerTurn) {
    await nextTurn();
    scan.read(bytesPerTurn);
  }
}

const bytesPerTurn = 8 * longTextLength;

/** The same for a stored text, which may be from a time when the limits were higher. */
export async function parseStoredJsonObject(text: string): Promise<JsonObject> {
  if (text.length > longTextLength) await nextTurn();
  const outline = outlineOf(text, "", Number.POSITIVE_INFINITY);
  return jsonObject(text, "", outline, parseJson(text, outline));
}

/** The members that `isKept` chooses, in the order they were sent, as one JSON object without white space between tokens. */
export function selectMembers(
  { text, members }: JsonObject,
  isKept: (key: string, value: unknown) => boolean,
): { readonly json: string; readonly kept: readonly JsonMember[] } {
  const kept = members.filter(({ key, value }) => isKept(key, value));
  let json = "";
  for (const { place } of kept) {
    if (json !== "") json += ",";
    json += place.isSpaced ? compact(text, place) : text.slice(place.start, place.end);
  }
  return { json: `{${json}}`, kept };
}

/**
 * Content of these members that some JSON readers would read differently: long numbers and repeated keys. `isKept` says
 * which keys of the object itself may not be repeated.
 */
export function ambiguities(
  object: JsonObject,
  members = object.members,
  isKept: (key: string) => boolean = () => true,
): FieldViolation[] {
  const violations = numberViolations(object, members);
  violations.push(...repetitionViolations(object, members));
  for (const key of object.repeatedKeys) {
    if (isKept(key)) violations.push({ path: fieldPath(object.path, key), message: isRepeated });
  }
  return violations;
}

/** The compact text of each member's value, by its key. */
export function memberTexts({ text, members }: JsonObject): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { key, place } of members) {
    const compacted = compact(text, place);
    texts.set(key, compacted.slice(stringEnd(compacted, 0) + 2));
  }
  return texts;
}

function outlineOf(text: string, path: string, valuesMax?: number): Outline {
  const outline = findOutline(text, valuesMax);
  if (typeof outline === "string") throw invalidRequest([{ path, message: outline }]);
  return outline;
}

/** Undefined if the text is not JSON. */
function parseJson(text: string, { hasEscapedKey }: Outline): unknown {
  const value = parsedAsIs(text);
  return value !== undefined && hasEscapedKey ? parseEscapedKeys(text) : value;
}

/** Undefined if the text is not JSON: the parser's own message quotes it, and it may be a prompt. */
function parsedAsIs(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function jsonObject(text: string, path: string, outline: Outline, value: unknown): JsonObject {
  if (value === undefined) throw invalidRequest([{ path, message: "must be valid JSON" }]);
  if (!isObject(value)) throw invalidRequest([{ path, message: "must be a JSON object" }]);
  const keys = Object.keys(value);
  const members = outline.members.map((place, index): JsonMember => {
    const key = keyAt(text, place, keys[index]);
    return { key, value: value[key], place };
  });
  const { longNumbers } = outline;
  if (members.length === keys.length) return { value, text, members, repeatedKeys: [], longNumbers, path };
  const last = new Map(members.map((member) => [member.key, member]));
  const repeatedKeys = new Set(members.flatMap((member) => (last.get(member.key) === member ? [] : member.key)));
  return { value, text, members: [...last.values()], repeatedKeys: [...repeatedKeys], longNumbers, path };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The key of a member. Most are as the parser listed them, and the parser's own string is many times faster in lookups
 * than a slice of the text.
 */
function keyAt(text: string, { start, keyEnd }: MemberOutline, listed: string | undefined): string {
  const isListed =
    listed !== undefined &&
    listed.length === keyEnd - start - 2 &&
    // Not `startsWith`: once V8 has optimized it, it compares one character after the other, however many there are.
    text.slice(start + 1, keyEnd - 1) === listed &&
    !listed.includes("\\");
  return isListed ? listed : stringValue(text.slice(start, keyEnd));
}

function compact(text: string, { start, end }: MemberOutline): string {
  let compacted = "";
  let from = start;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = stringEnd(text, at);
    else if (code >= minus && code <= digit9) at = wordEnd(text, at) - 1;
    else if (code <= space) {
      compacted += text.slice(from, at);
      from = spaceEnd(text, at);
      at = from - 1;
    }
  }
  return compacted + text.slice(from, end);
}
