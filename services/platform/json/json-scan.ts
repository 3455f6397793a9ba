import { invalidRequest } from "../domain/domain-error.ts";
import {
  backslash,
  closeBracket,
  colon,
  comma,
  digit9,
  jsonDepthMax,
  minus,
  openBrace,
  openBracket,
  quote,
} from "./json-outline.ts";

/** The place of a member of an object: its key with the quotes, and its value. */
export interface MemberPlace {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** The ends of values and keys of at least this many bytes are remembered, so that later walks can jump over them. */
const longValueBytes = 65_536;

/** No sensible body has more, and each takes many times its bytes in memory. */
const membersMax = 10_000;

const digit0 = 0x30;
const letterU = 0x75;

/** What may come next. They are ordered so that ranges can be compared, which is faster than testing one by one. */
const aValue = 0;
const aValueOrEnd = 1;
const aKey = 2;
const aKeyOrEnd = 3;
const aColon = 4;
const aCommaOrEnd = 5;
const nothing = 6;
/** Only at the beginning: the top-level value must be an object. */
const theObject = 7;

/**
 * Scans the bytes of a body, which are known to be UTF-8. It checks that they are JSON, as strictly as JSON.parse does,
 * and finds the members of the top-level object. A body may have 32 MiB, for all of which JSON.parse would block
 * everyone else. So it is never parsed as a whole, and is scanned part by part.
 */
export class JsonScan {
  readonly members: MemberPlace[] = [];
  /** The ends of long values, by where they begin. */
  readonly longValues = new Map<number, number>();
  readonly #bytes: Buffer;
  #at = 0;
  #next = theObject;
  /** The start of each open object and list. */
  readonly #open: number[] = [];
  /** Where the current string began, possibly in an earlier part; -1 if there is none. */
  #stringStart = -1;
  #keyStart = 0;
  #keyEnd = 0;
  #valueStart = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isDone(): boolean {
    return this.#next === nothing && this.#at >= this.#bytes.length;
  }

  /** Continues for about this many bytes. Throws an invalid request if the text is not JSON, or exceeds a limit. */
  read(count: number): void {
    const bytes = this.#bytes;
    const until = Math.min(bytes.length, this.#at + count);
    let at = this.#at;
    if (this.#stringStart !== -1) at = this.#readString(at, until);
    while (at < until) {
      const code = bytes[at] as number;
      if (code <= 0x20) {
        if (!isSpace(code)) throw notJson(bytes, at);
        at++;
        continue;
      }
      const next = this.#next;
      if (next === aCommaOrEnd) {
        if (code === comma) {
          this.#next = bytes[this.#open.at(-1) as number] === openBrace ? aKey : aValue;
          at++;
        } else at = this.#close(code, at);
      } else if (next === aColon) {
        if (code !== colon) throw notJson(bytes, at);
        this.#next = aValue;
        at++;
      } else if (next >= nothing) {
        if (next === nothing) throw notJson(bytes, at);
        if (code !== openBrace) throw noObject();
        // The brace itself is read as a value in the next round.
        this.#next = aValue;
      } else if (code === quote) {
        this.#stringStart = at;
        if (next <= aValueOrEnd) this.#beginValue(at);
        at = this.#readString(at + 1, until);
      } else if (next >= aKey) {
        if (next !== aKeyOrEnd) throw notJson(bytes, at);
        at = this.#close(code, at);
      } else if (code === openBrace || code === openBracket) {
        this.#beginValue(at);
        this.#open.push(at);
        if (this.#open.length > jsonDepthMax) throw tooDeep();
        this.#next = code === openBrace ? aKeyOrEnd : aValueOrEnd;
        at++;
      } else if (code === closeBracket && next === aValueOrEnd) {
        at = this.#close(code, at);
      } else {
        const start = at;
        this.#beginValue(start);
        at = code === minus || (code >= digit0 && code <= digit9) ? numberEnd(bytes, start) : wordEnd(bytes, start);
        this.#endValue(start, at);
      }
    }
    this.#at = at;
    if (at < bytes.length || this.#next === nothing) return;
    throw this.#next === theObject ? noObject() : notJson(bytes, at);
  }

  #beginValue(at: number): void {
    if (this.#open.length === 1) this.#valueStart = at;
  }

  #endValue(start: number, end: number): void {
    if (end - start >= longValueBytes) this.longValues.set(start, end);
    const depth = this.#open.length;
    this.#next = depth === 0 ? nothing : aCommaOrEnd;
    if (depth !== 1) return;
    if (this.members.length === membersMax) throw tooManyMembers();
    this.members.push({
      keyStart: this.#keyStart,
      keyEnd: this.#keyEnd,
      valueStart: this.#valueStart,
      valueEnd: end,
    });
  }

  #close(code: number, at: number): number {
    const start = this.#open.pop();
    // The code of a closing bracket, of either kind, is that of the opening one plus two.
    if (start === undefined || code !== (this.#bytes[start] as number) + 2) throw notJson(this.#bytes, at);
    this.#endValue(start, at + 1);
    return at + 1;
  }

  #readString(from: number, until: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (at < until) {
      const code = bytes[at] as number;
      if (isPlain[code] === 1) at++;
      else if (code === backslash) at = escapeEnd(bytes, at);
      else if (code === quote) {
        this.#endString(at + 1);
        return at + 1;
      } else throw notJson(bytes, at);
    }
    return at;
  }

  #endString(end: number): void {
    const start = this.#stringStart;
    this.#stringStart = -1;
    if (this.#next <= aValueOrEnd) {
      this.#endValue(start, end);
      return;
    }
    if (end - start >= longValueBytes) this.longValues.set(start, end);
    this.#next = aColon;
    if (this.#open.length !== 1) return;
    this.#keyStart = start;
    this.#keyEnd = end;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** The bytes of a string that stand for themselves. */
const isPlain = new Uint8Array(256).fill(1, 0x20);
isPlain[quote] = isPlain[backslash] = 0;

const escapable = new Uint8Array(256);
for (const code of Buffer.from('"\\/bfnrt')) escapable[code] = 1;

function escapeEnd(bytes: Buffer, at: number): number {
  const code = bytes[at + 1] as number;
  if (escapable[code] === 1) return at + 2;
  if (code !== letterU) throw notJson(bytes, at + 1);
  for (let digit = at + 2; digit < at + 6; digit++) {
    if (!isHex(bytes[digit] as number)) throw notJson(bytes, digit);
  }
  return at + 6;
}

function isHex(code: number): boolean {
  const lower = code | 0x20;
  return (code >= digit0 && code <= digit9) || (lower >= 0x61 && lower <= 0x66);
}

function numberEnd(bytes: Buffer, start: number): number {
  let at = bytes[start] === minus ? start + 1 : start;
  // No digit may follow a leading zero.
  at = bytes[at] === digit0 ? at + 1 : digitsEnd(bytes, at);
  if (bytes[at] === 0x2e) at = digitsEnd(bytes, at + 1);
  if (((bytes[at] as number) | 0x20) === 0x65) {
    at++;
    if (bytes[at] === minus || bytes[at] === 0x2b) at++;
    at = digitsEnd(bytes, at);
  }
  return at;
}

/** More than any number needs. One of megabytes would be read in a single turn. */
const digitsMax = 65_536;

/** At least one digit must be there. */
function digitsEnd(bytes: Buffer, start: number): number {
  let at = start;
  while ((bytes[at] as number) >= digit0 && (bytes[at] as number) <= digit9) {
    if (at - start === digitsMax) throw tooManyDigits();
    at++;
  }
  if (at === start) throw notJson(bytes, at);
  return at;
}

const words = ["true", "false", "null"].map((word) => Buffer.from(word));

function wordEnd(bytes: Buffer, start: number): number {
  const word = words.find((each) => each[0] === bytes[start]);
  if (!word?.every((code, index) => bytes[start + index] === code)) throw notJson(bytes, start);
  return start + word.length;
}

function noObject(): Error {
  return invalidRequest([{ path: "", message: "must be a JSON object" }]);
}

/** Quotes nothing of the text, which may be a prompt. */
function notJson(bytes: Buffer, at: number): Error {
  return invalidRequest([
    { path: "", message: `must be valid JSON; the error is ${placeIn(bytes, Math.min(at, bytes.length))}` },
  ]);
}

/** Lines are counted no further: that would take long, and nobody reads so much of them. */
const countedBytesMax = 1024 * 1024;

function placeIn(bytes: Buffer, at: number): string {
  if (at > countedBytesMax) return `after byte ${at}`;
  let line = 1;
  let start = 0;
  for (let index = 0; index < at; index++) {
    if (bytes[index] !== 0x0a) continue;
    line++;
    start = index + 1;
  }
  return `at line ${line}, column ${bytes.toString("utf8", start, at).length + 1}`;
}

function tooManyDigits(): Error {
  return invalidRequest([{ path: "", message: `must not hold a number of more than ${digitsMax} digits` }]);
}

function tooDeep(): Error {
  return invalidRequest([{ path: "", message: `must not be nested deeper than ${jsonDepthMax} levels` }]);
}

function tooManyMembers(): Error {
  return invalidRequest([{ path: "", message: `must not have more than ${membersMax} fields` }]);
}
