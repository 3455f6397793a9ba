import { fieldPath } from "./field-path.ts";
import {
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  quote,
  stringEnd,
  stringValue,
} from "./json-outline.ts";

/** A list or object that the walk is inside. */
interface Open {
  readonly isList: boolean;
  /** The index of the element, or the position of the last string: at a value or a colon, that is its key. */
  at: number;
  /** The key in the form that fieldPath takes, once it was needed: a long one is read once for everything inside. */
  key: string | undefined;
}

/**
 * The path of each position, which is that of a value's first character or of a member's colon. One walk finds them
 * all.
 */
export function pathsTo(text: string, root: string, places: Iterable<number>): Map<number, string> {
  const paths = new Map<number, string>();
  const wanted = new Set(places);
  const open: Open[] = [];
  for (let at = 0; at < text.length && paths.size < wanted.size; at++) {
    const code = text.charCodeAt(at);
    const innermost = open.at(-1);
    if (wanted.has(at)) paths.set(at, open.map((each) => keyOf(text, each)).reduce(fieldPath, root));
    if (code === quote) {
      const end = stringEnd(text, at);
      if (innermost?.isList === false) Object.assign(innermost, { at, key: undefined });
      at = end;
    } else if (code === comma) {
      if (innermost?.isList) innermost.at++;
    } else if (code === openBrace || code === openBracket) {
      open.push({ isList: code === openBracket, at: 0, key: undefined });
    } else if (code === closeBrace || code === closeBracket) {
      open.pop();
    }
  }
  return paths;
}

function keyOf(text: string, open: Open): string | number {
  if (open.isList) return open.at;
  open.key ??= stringValue(text.slice(open.at, stringEnd(text, open.at) + 1));
  return open.key;
}
