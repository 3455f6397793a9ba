/** Short options may be written as one, such as `-sd`. */
const dataOption = /^(?:-[a-zA-Z]*d|--json|--data(?:-raw|-binary|-ascii)?)/;

/** What a shell puts words together from, and the gaps between them, of which a line that goes on is one. */
const part =
  /(?<gap>\s+|\\\r?\n)|'(?<single>[^']*)'|\$'(?<escaped>(?:[^'\\]|\\.)*)'|"(?<double>(?:[^"\\]|\\.)*)"|\\(?<one>.)|(?<plain>[^\s'"\\$]+|.)/gsu;

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

/**
 * The body of a curl command, which is how documentation shows requests and browsers copy them. Undefined if the text
 * is something else, or the command sends no object.
 */
export function curlBody(text: string): string | undefined {
  if (!/^\s*(?:\$\s+)?curl(?:\.exe)?\s/.test(text)) return undefined;
  const words = wordsOf(text);
  const bodies = words.flatMap((word, at) => {
    const [option] = dataOption.exec(word) ?? [];
    return option === undefined ? [] : word.slice(option.length) || (words[at + 1] ?? "");
  });
  return bodies.map((body) => body.trim()).find((body) => body.startsWith("{"));
}

/** The words of a command, as a shell splits them and removes their quotes. Variables stay as they are written. */
function wordsOf(command: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const { groups = {} } of command.matchAll(part)) {
    const { gap, single, escaped, double, one, plain = "" } = groups;
    if (gap === undefined) {
      word ??= "";
      word += single ?? (escaped && unescaped(escaped)) ?? (double && unquoted(double)) ?? one ?? plain;
    } else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}

/** Between double quotes, a backslash stands for itself, except before these. */
function unquoted(text: string): string {
  return text.replace(/\\(?:\r?\n|(["\\$`]))/g, "$1");
}

/** Between `$'` and `'`, where browsers write line breaks and quotes as escapes. */
function unescaped(text: string): string {
  return text.replace(/\\(?:u([\da-f]{1,4})|x([\da-f]{1,2})|(.))/gisu, (_, unicode, hex, other) =>
    other === undefined ? String.fromCharCode(Number.parseInt(unicode ?? hex, 16)) : (escapes[other] ?? other),
  );
}
