import {
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  quote,
  space,
  spaceEnd,
  stringEnd,
  stringValue,
  wordEnd,
} from "./json-outline.ts";

// JSON.parse of Node 24 and 26 mistakes a key with an escape for one that it has read before, if that one looks like
// its beginning: after {"t\\":1}, it reads {"t\u006f":1} as {"t\\":1}. So with such keys, a caller could have a field
// checked under another name than the one it is stored under. Strings outside objects are read correctly.

/** What JSON.parse should return for a text that is known to be JSON, and not nested too deep. */
export function parseEscapedKeys(text: string): unknown {
  return new Reader(text).value();
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): unknown {
    const code = this.#code();
    if (code === openBrace) return this.#object();
    if (code === openBracket) return this.#list();
    return code === quote ? this.#string() : JSON.parse(this.#upTo(wordEnd(this.#text, this.#at)));
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (this.#at++; this.#code() !== closeBrace; this.#skipComma()) {
      const key = this.#string();
      this.#code();
      // After the colon.
      this.#at++;
      const value = this.value();
      // Assigning to this key would make the value the object's prototype.
      if (key === "__proto__") Object.defineProperty(object, key, { value, ...ownProperty });
      else object[key] = value;
    }
    this.#at++;
    return object;
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    for (this.#at++; this.#code() !== closeBracket; this.#skipComma()) list.push(this.value());
    this.#at++;
    return list;
  }

  #string(): string {
    return stringValue(this.#upTo(stringEnd(this.#text, this.#at) + 1));
  }

  #upTo(end: number): string {
    const token = this.#text.slice(this.#at, end);
    this.#at = end;
    return token;
  }

  /** The first character of the next token. */
  #code(): number {
    if (this.#text.charCodeAt(this.#at) <= space) this.#at = spaceEnd(this.#text, this.#at);
    return this.#text.charCodeAt(this.#at);
  }

  #skipComma(): void {
    if (this.#code() === comma) this.#at++;
  }
}

const ownProperty = { enumerable: true, writable: true, configurable: true };
