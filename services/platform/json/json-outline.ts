// One pass over a JSON text before it is parsed. It bounds the cost of parsing, and finds what JSON.parse does not
// report. It trusts the text: JSON.parse decides whether it is JSON, and if it is not, the results here are
// meaningless. Every text takes linear time.

/** The maximum nesting; the top-level object counts as 1. */
export const jsonDepthMax = 64;

/** The maximum number of keys and values. The cost of parsing depends on their number more than on their length. */
export const jsonValuesMax = 75_000;

/** One member: from the opening quote of its key to the comma or brace after its value. */
export interface MemberOutline {
  readonly start: number;
  readonly keyEnd: number;
  readonly end: number;
  /** Whether there is white space between its tokens. */
  readonly isSpaced: boolean;
  /** The number of members inside its value, at any depth. */
  readonly innerMembers: number;
  /** Which of the outline's long numbers are inside its value: from this index up to, but not including, the next. */
  readonly numbersFrom: number;
  readonly numbersTo: number;
}

export interface Outline {
  /** The members of the outermost object, in the order of the text. */
  readonly members: readonly MemberOutline[];
  /** The positions of numbers that are long enough to need a closer look. */
  readonly longNumbers: readonly number[];
  /** The length of the longest key at any depth, as written in the text. */
  readonly keyLengthMax: number;
  /** Whether a key at any depth is written with an escape. */
  readonly hasEscapedKey: boolean;
}

export const space = 0x20;
export const quote = 0x22;
export const comma = 0x2c;
export const minus = 0x2d;
export const digit9 = 0x39;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

/** The shortest number that a double cannot represent is 1e309. */
const longNumberLength = 5;

/** The outline of a text, or what is wrong with the text as a whole. */
export function findOutline(text: string, valuesMax = jsonValuesMax): Outline | string {
  // More tokens, and runs of white space between them, than a JSON text with this many keys and values can have.
  const stepsMax = 6 * valuesMax + 1;
  const members: MemberOutline[] = [];
  const longNumbers: number[] = [];
  let steps = 0;
  let values = 0;
  let colons = 0;
  let stringStart = 0;
  let stringLength = 0;
  let keyLengthMax = 0;
  let hasEscapedKey = false;
  let depth = 0;
  let start = -1;
  let keyEnd = -1;
  let isSpaced = false;
  let colonsBefore = 0;
  let numbersFrom = 0;
  for (let at = 0; at < text.length; at++) {
    if (++steps > stepsMax) return tooManyValues(valuesMax);
    const code = text.charCodeAt(at);
    if (code === quote) {
      values++;
      const end = stringEnd(text, at);
      stringStart = at;
      stringLength = end - at - 1;
      if (depth === 1 && start === -1) {
        start = at;
        keyEnd = end + 1;
        isSpaced = false;
        colonsBefore = colons;
        numbersFrom = longNumbers.length;
      }
      at = end;
    } else if (code === colon) {
      colons++;
      if (stringLength > keyLengthMax) keyLengthMax = stringLength;
      hasEscapedKey ||= isEscaped(text, stringStart, stringStart + stringLength + 1);
    } else if (code === comma || code === closeBrace || code === closeBracket) {
      if (depth === 1 && start !== -1) {
        const innerMembers = colons - colonsBefore - 1;
        members.push({ start, keyEnd, end: at, isSpaced, innerMembers, numbersFrom, numbersTo: longNumbers.length });
        start = -1;
      }
      if (code !== comma) depth--;
    } else if (code === openBrace || code === openBracket) {
      values++;
      depth++;
      if (depth > jsonDepthMax) return tooDeep;
    } else if (code <= space) {
      isSpaced = true;
      at = spaceEnd(text, at) - 1;
    } else {
      values++;
      const end = wordEnd(text, at);
      if (end - at >= longNumberLength && code <= digit9) longNumbers.push(at);
      at = end - 1;
    }
  }
  return values > valuesMax ? tooManyValues(valuesMax) : { members, longNumbers, keyLengthMax, hasEscapedKey };
}

const tooDeep = `must not be nested deeper than ${jsonDepthMax} levels`;
const tooManyValues = (valuesMax: number) => `must not hold more than ${valuesMax} keys and values`;

// Most runs are short, and a loop is the fastest way to their end. For long ones a regular expression is faster: a body
// may be a single number of ten million digits. None of the expressions can backtrack over more than it has read.

const shortRun = 32;
const restOfWord = /[^\0- ,\]}]*/y;
const restOfSpace = /[\0- ]*/y;
const escapes = /(?:[^"\\]*\\.){1,1000}/sy;

/** Where a number or literal ends. */
export function wordEnd(text: string, start: number): number {
  for (let at = start + 1; at < start + shortRun; at++) {
    const code = text.charCodeAt(at);
    // Past the end of the text it is NaN, which matches none of these.
    if (!(code > space) || code === comma || code === closeBrace || code === closeBracket) return at;
  }
  return matchEnd(restOfWord, text, start + shortRun);
}

export function spaceEnd(text: string, start: number): number {
  for (let at = start + 1; at < start + shortRun; at++) {
    if (!(text.charCodeAt(at) <= space)) return at;
  }
  return matchEnd(restOfSpace, text, start + shortRun);
}

/** The position of the closing quote. It is searched for, not walked to: a string may contain a whole image. */
export function stringEnd(text: string, open: number): number {
  let close = text.indexOf('"', open + 1);
  if (text.charCodeAt(close - 1) === backslash) {
    let at = open + 1;
    for (let end = matchEnd(escapes, text, at); end > at; end = matchEnd(escapes, text, at)) at = end;
    close = text.indexOf('"', at);
  }
  return close === -1 ? text.length : close;
}

/** Where a match that begins here ends; here itself if there is none. */
function matchEnd(sticky: RegExp, text: string, start: number): number {
  sticky.lastIndex = start;
  return sticky.test(text) ? sticky.lastIndex : start;
}

/** Whether a string is written with an escape. */
function isEscaped(text: string, open: number, close: number): boolean {
  const shortEnd = Math.min(close, open + shortRun);
  for (let at = open + 1; at < shortEnd; at++) {
    if (text.charCodeAt(at) === backslash) return true;
  }
  return text.slice(shortEnd, close).includes("\\");
}

/** What a string literal stands for. */
export function stringValue(literal: string): string {
  return literal.includes("\\") ? JSON.parse(literal) : literal.slice(1, -1);
}
