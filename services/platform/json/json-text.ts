import { type FieldViolation, invalidRequest } from "../domain/domain-error.ts";
import { fieldPath } from "./field-path.ts";

// A JavaScript object does not keep what JSON text says: it re-orders integer-like keys, reads 1.0 as 1 and rounds long
// integers. So JSON that must be kept verbatim is cut out of the text itself. JSON.parse alone decides whether a text
// is JSON; the walks below find what it does not tell, and trust the text otherwise.

/** How deep a text may be nested; the outermost object counts as 1. */
export const jsonDepthMax = 64;

/** A text may hold a million bad numbers; nobody reads more of them than this. */
const numberViolationsMax = 100;

/** A JSON object and the text it was sent as. Made by `parseJsonObject`. */
export interface JsonObject {
  /** What JSON.parse makes of the text: good for looking at, not for writing back. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** Of a repeated key the last member counts, as in JSON.parse. */
  readonly members: ReadonlyMap<string, Member>;
  readonly longNumbers: readonly number[];
  /** Where the object stands in the request; the path of a violation inside it begins with this. */
  readonly path: string;
}

/** The place of one member: from the opening quote of its key to the comma or brace after its value. */
interface Member {
  readonly start: number;
  readonly keyEnd: number;
  readonly end: number;
  /** Whether there is white space between its tokens. */
  readonly isSpaced: boolean;
}

/** Throws an invalid request where the text is not JSON, not an object, or nested too deep. */
export function parseJsonObject(text: string, path = ""): JsonObject {
  // The walk comes first: parsing millions of nested lists only to refuse them would take seconds.
  const outline = findOutline(text);
  if (outline === undefined) {
    throw invalidRequest([{ path, message: `must not be nested deeper than ${jsonDepthMax} levels` }]);
  }
  const value = parseJson(text, path);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidRequest([{ path, message: "must be a JSON object" }]);
  }
  const members = new Map<string, Member>();
  for (const member of outline.members) members.set(stringValue(text.slice(member.start, member.keyEnd)), member);
  return { value: value as Record<string, unknown>, text, members, longNumbers: outline.longNumbers, path };
}

/**
 * The members that `keeps` chooses, in the order they were sent, as one JSON object. White space between tokens is left
 * out; all else is as sent. The violations name the numbers among them that a double cannot hold, so that most readers
 * of the JSON would get another number.
 */
export function cutMembers(
  object: JsonObject,
  keeps: (key: string, value: unknown) => boolean,
): { readonly json: string; readonly violations: readonly FieldViolation[] } {
  const kept: Member[] = [];
  let json = "";
  for (const [key, member] of object.members) {
    if (!keeps(key, object.value[key])) continue;
    kept.push(member);
    if (json !== "") json += ",";
    json += member.isSpaced ? compact(object.text, member) : object.text.slice(member.start, member.end);
  }
  return { json: `{${json}}`, violations: numberViolations(object, kept) };
}

/** The compact text of each member's value, by its key. */
export function memberTexts({ text, members }: JsonObject): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [key, member] of members) {
    const compacted = compact(text, member);
    texts.set(key, compacted.slice(stringEnd(compacted, 0) + 2));
  }
  return texts;
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may be a prompt.
    throw invalidRequest([{ path, message: "must be valid JSON" }]);
  }
}

const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const digit0 = 0x30;
const digit9 = 0x39;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The shortest number that a double cannot hold is 1e309. */
const longNumberLength = 5;

interface Outline {
  readonly members: readonly Member[];
  /** Where the numbers begin that are long enough to be looked at again. */
  readonly longNumbers: readonly number[];
}

/**
 * The outermost members and the long numbers of an object, in one walk; undefined where it is nested too deep.
 * The text has not been parsed yet: where it is not an object, what is found has no meaning.
 */
function findOutline(text: string): Outline | undefined {
  const members: Member[] = [];
  const longNumbers: number[] = [];
  let depth = 0;
  let start = -1;
  let keyEnd = -1;
  let isSpaced = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = stringEnd(text, at);
      if (depth === 1 && start === -1) {
        start = at;
        keyEnd = end + 1;
        isSpaced = false;
      }
      at = end;
    } else if (code === openBrace || code === openBracket) {
      depth++;
      if (depth > jsonDepthMax) return undefined;
    } else if (code === closeBrace || code === closeBracket || code === comma) {
      if (depth === 1 && start !== -1) {
        members.push({ start, keyEnd, end: at, isSpaced });
        start = -1;
      }
      if (code !== comma) depth--;
    } else if (code <= space) {
      isSpaced = true;
      while (text.charCodeAt(at + 1) <= space) at++;
    } else if (code === minus || (code >= digit0 && code <= digit9)) {
      const end = numberEnd(text, at);
      if (end - at >= longNumberLength) longNumbers.push(at);
      at = end - 1;
    }
  }
  return { members, longNumbers };
}

/** The place of the closing quote. It is searched for, not walked to: a string may hold a whole image. */
function stringEnd(text: string, open: number): number {
  let close = text.indexOf('"', open + 1);
  while (close !== -1 && isEscaped(text, close)) close = text.indexOf('"', close + 1);
  return close === -1 ? text.length : close;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === backslash) before--;
  return (at - before) % 2 === 0;
}

function stringValue(literal: string): string {
  return literal.includes("\\") ? JSON.parse(literal) : literal.slice(1, -1);
}

function numberEnd(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === comma || code <= space || code === closeBrace || code === closeBracket) break;
  }
  return at;
}

function compact(text: string, { start, end }: Member): string {
  let compacted = "";
  let from = start;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = stringEnd(text, at);
    else if (code <= space) {
      compacted += text.slice(from, at);
      while (text.charCodeAt(at + 1) <= space) at++;
      from = at + 1;
    }
  }
  return compacted + text.slice(from, end);
}

function numberViolations({ text, longNumbers, path }: JsonObject, members: readonly Member[]): FieldViolation[] {
  const faults = new Map<number, string>();
  for (const at of longNumbers) {
    if (!members.some((member) => member.start < at && at < member.end)) continue;
    const fault = numberFault(text.slice(at, numberEnd(text, at)));
    if (fault !== undefined) faults.set(at, fault);
    if (faults.size === numberViolationsMax) break;
  }
  if (faults.size === 0) return [];
  const paths = pathsTo(text, path, [...faults.keys()]);
  return [...faults.values()].map((message, index) => ({ path: paths[index] ?? path, message }));
}

function numberFault(literal: string): string | undefined {
  const value = Number(literal);
  if (!Number.isFinite(value)) return "must be a number that fits in a double";
  // A fraction or an exponent says that the number is not meant to be exact.
  if (Number.isSafeInteger(value) || /[.eE]/.test(literal) || BigInt(literal) === BigInt(value)) return undefined;
  return `must be an integer that a double holds exactly; this one would be read as ${BigInt(value)}`;
}

/** The path of each place. The places ascend, so one walk finds them all. */
function pathsTo(text: string, root: string, places: readonly number[]): string[] {
  const paths: string[] = [];
  // One entry for each list or object that is open: the index of the element that the walk is in, or the place of the
  // string that came last, which at a number or an opening bracket is its key.
  const open: { readonly isList: boolean; at: number }[] = [];
  for (let at = 0; at < text.length && paths.length < places.length; at++) {
    const code = text.charCodeAt(at);
    const innermost = open.at(-1);
    if (at === places[paths.length]) {
      const keys = open.map((each) =>
        each.isList ? each.at : stringValue(text.slice(each.at, stringEnd(text, each.at) + 1)),
      );
      paths.push(keys.reduce(fieldPath, root));
    } else if (code === quote) {
      if (innermost?.isList === false) innermost.at = at;
      at = stringEnd(text, at);
    } else if (code === comma) {
      if (innermost?.isList) innermost.at++;
    } else if (code === openBrace || code === openBracket) {
      open.push({ isList: code === openBracket, at: 0 });
    } else if (code === closeBrace || code === closeBracket) {
      open.pop();
    }
  }
  return paths;
}
