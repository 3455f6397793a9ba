import { invalidRequest } from "../../../services/platform/domain/domain-error.ts";
import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  quote,
} from "../../../services/platform/json/json-outline.ts";

// Walks through parts of a text that is known to be JSON. Long values are skipped, so that all walks together take no
// longer than one through the whole text.

/** JSON bytes, and the ends of their long values, by start. */
export interface JsonSource {
  readonly bytes: Buffer;
  readonly longValues: ReadonlyMap<number, number>;
}

/** The place of a value. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

const letterN = 0x6e;

/** Whether the value that begins here is null, the only one that begins with this letter. */
export function isNullAt({ bytes }: JsonSource, start: number): boolean {
  return bytes[start] === letterN;
}

/**
 * The content of the string from `start` to `end`; undefined if the value is not a string, or has more than `bytesMax`
 * bytes.
 */
export function textAt({ bytes }: JsonSource, start: number, end: number, bytesMax: number): string | undefined {
  if (bytes[start] !== quote || end - start - 2 > bytesMax) return undefined;
  const text = bytes.toString("utf8", start + 1, end - 1);
  return text.includes("\\") ? JSON.parse(`"${text}"`) : text;
}

/** Where a value ends. */
function valueEnd({ bytes, longValues }: JsonSource, start: number): number {
  const known = longValues.get(start);
  if (known !== undefined) return known;
  const first = bytes[start];
  if (first === quote) return stringEnd(bytes, start);
  if (first !== openBrace && first !== openBracket) return wordEnd(bytes, start);
  let depth = 0;
  for (let at = start; ; at++) {
    const code = bytes[at];
    if (code === quote) at = (longValues.get(at) ?? stringEnd(bytes, at)) - 1;
    else if (code === openBrace || code === openBracket) {
      const end = longValues.get(at);
      if (end === undefined) depth++;
      else at = end - 1;
    } else if (code === closeBrace || code === closeBracket) {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
}

/** More than a tool, a message or a part of one has. Reading their keys takes longer than all the rest. */
const fieldsMax = 32;

/**
 * Finds the values of these keys in the object that begins here. Of a repeated key, the last counts. Throws an invalid
 * request if the object has too many fields.
 */
export function valuesAt<Key extends string>(
  source: JsonSource,
  start: number,
  keys: readonly Key[],
): Partial<Record<Key, Place>> {
  const values: Partial<Record<Key, Place>> = {};
  let count = 0;
  eachMember(source, start, (key, value) => {
    if (++count > fieldsMax) throw invalidRequest([{ path: "", message: tooManyFields }]);
    const wanted = keys.find((each) => each === key);
    if (wanted !== undefined) values[wanted] = value;
  });
  return values;
}

const tooManyFields = `must not have more than ${fieldsMax} fields in a tool or in the first message`;

/** Calls `take` for every member of the object that begins here. A key of more than `keyBytesMax` bytes is undefined. */
export function eachMember(
  source: JsonSource,
  start: number,
  take: (key: string | undefined, value: Place) => void,
  keyBytesMax = 256,
): void {
  const { bytes } = source;
  for (let at = spaceEnd(bytes, start + 1); bytes[at] !== closeBrace; at = spaceEnd(bytes, at)) {
    if (bytes[at] === comma) at = spaceEnd(bytes, at + 1);
    const keyEnd = valueEnd(source, at);
    const key = textAt(source, at, keyEnd, keyBytesMax);
    // The value begins after the colon.
    const valueStart = spaceEnd(bytes, spaceEnd(bytes, keyEnd) + 1);
    const end = valueEnd(source, valueStart);
    take(key, { start: valueStart, end });
    at = end;
  }
}

/** Where the first element begins of the list that begins here; undefined if it is empty. */
export function firstElementAt({ bytes }: JsonSource, start: number): number | undefined {
  const at = spaceEnd(bytes, start + 1);
  return bytes[at] === closeBracket ? undefined : at;
}

/** The elements of the list that begins here, up to `countMax` of them. */
export function elementsAt(source: JsonSource, start: number, countMax: number): Place[] {
  const { bytes } = source;
  const elements: Place[] = [];
  for (let at = spaceEnd(bytes, start + 1); bytes[at] !== closeBracket; at = spaceEnd(bytes, at)) {
    if (elements.length === countMax) break;
    if (bytes[at] === comma) at = spaceEnd(bytes, at + 1);
    const end = valueEnd(source, at);
    elements.push({ start: at, end });
    at = end;
  }
  return elements;
}

/** Outside strings, only white space has such small codes in JSON. */
function spaceEnd(bytes: Buffer, from: number): number {
  let at = from;
  while ((bytes[at] as number) <= 0x20) at++;
  return at;
}

/** From this length on, Node's search is faster than a loop, despite its higher fixed cost. */
const searchedBytes = 32;

function stringEnd(bytes: Buffer, start: number): number {
  for (let at = start + 1; ; ) {
    // Also after an escaped quote: in a string that is full of them, each search would end soon.
    for (const until = at + searchedBytes; at < until; at++) {
      const code = bytes[at];
      if (code === quote) return at + 1;
      if (code === backslash) at++;
    }
    const found = bytes.indexOf(quote, at);
    if (!isEscaped(bytes, at, found)) return found + 1;
    at = found + 1;
  }
}

/** Whether the byte is escaped, given that no escape that begins before `from` extends beyond it. */
function isEscaped(bytes: Buffer, from: number, at: number): boolean {
  let first = at;
  while (first > from && bytes[first - 1] === backslash) first--;
  return (at - first) % 2 === 1;
}

function wordEnd(bytes: Buffer, start: number): number {
  let at = start;
  while (isOfWord(bytes[at])) at++;
  return at;
}

function isOfWord(code: number | undefined): boolean {
  return code !== undefined && code > 0x20 && code !== comma && code !== closeBrace && code !== closeBracket;
}
