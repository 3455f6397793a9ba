import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  findOutline,
  openBrace,
  openBracket,
  quote,
  space,
  spaceEnd,
  stringEnd,
  stringValue,
  wordEnd,
} from "../../../../services/platform/json/json-outline.ts";

// Stored JSON is shown and sent as it is written: JSON.parse would turn 1.0 into 1 and round long integers.

/** A member of an object: the text of its value, and where that text begins. */
export interface Piece {
  readonly key: string;
  readonly text: string;
  readonly at: number;
}

/** The members of an object, in the order of its text. The text must be valid JSON. */
export function membersOf(text: string): Piece[] {
  const outline = findOutline(text, Number.POSITIVE_INFINITY);
  if (typeof outline === "string") return [];
  return outline.members.map(({ start, keyEnd, end }) => {
    const afterKey = text.indexOf(":", keyEnd) + 1;
    const at = text.charCodeAt(afterKey) <= space ? spaceEnd(text, afterKey) : afterKey;
    return { key: stringValue(text.slice(start, keyEnd)), text: text.slice(at, end).trimEnd(), at };
  });
}

/** The text of a nested value, by the keys that lead to it. */
export function pieceAt(text: string, keys: readonly string[]): string {
  return keys.reduce((inner, key) => membersOf(inner).find((member) => member.key === key)?.text ?? "null", text);
}

/** The text of an object with these members, one per line. */
export function objectFrom(members: readonly Pick<Piece, "key" | "text">[]): string {
  return indented(`{${members.map(({ key, text }) => `${JSON.stringify(key)}:${text}`).join(",")}}`);
}

/** The same JSON with line breaks and indentation. Strings and numbers stay as they are written. */
export function indented(text: string): string {
  let out = "";
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= space) continue;
    if (code === quote) {
      const end = stringEnd(text, at);
      out += text.slice(at, end + 1);
      at = end;
    } else if (code === openBrace || code === openBracket) {
      const close = nextCode(text, at + 1);
      if (close === closeBrace || close === closeBracket) {
        out += code === openBrace ? "{}" : "[]";
        at = text.indexOf(code === openBrace ? "}" : "]", at);
      } else {
        depth++;
        out += `${text[at]}${newLine(depth)}`;
      }
    } else if (code === closeBrace || code === closeBracket) {
      depth--;
      out += `${newLine(depth)}${text[at]}`;
    } else if (code === comma) out += `,${newLine(depth)}`;
    else if (code === colon) out += ": ";
    else {
      const end = wordEnd(text, at);
      out += text.slice(at, end);
      at = end - 1;
    }
  }
  return out;
}

/** The same JSON without white space between its tokens, so that two spellings of it can be compared. */
export function compact(text: string): string {
  let out = "";
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= space) continue;
    const end = code === quote ? stringEnd(text, at) + 1 : at + 1;
    out += text.slice(at, end);
    at = end - 1;
  }
  return out;
}

function nextCode(text: string, from: number): number {
  const at = text.charCodeAt(from) <= space ? spaceEnd(text, from) : from;
  return text.charCodeAt(at);
}

function newLine(depth: number): string {
  return `\n${"  ".repeat(depth)}`;
}
