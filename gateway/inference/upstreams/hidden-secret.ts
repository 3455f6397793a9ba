const star = 0x2a;

/**
 * Anything shorter is not treated as a secret: servers that check none are given any word, which may also occur in an
 * error.
 */
const lengthMin = 16;

/** These secrets, each as it is and as JSON may show it. */
export function hiddenSecrets(secrets: readonly string[]): readonly HiddenSecret[] {
  const forms = secrets.filter(({ length }) => length >= lengthMin).flatMap(formsOf);
  // One that is contained in another must not be masked before it: the rest of the other would be shown.
  const longestFirst = [...new Set(forms)].sort((one, other) => other.length - one.length);
  return longestFirst.map((form) => new HiddenSecret(form));
}

function formsOf(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  // Some servers, such as those in PHP, also escape slashes.
  return [secret, escaped, escaped.replaceAll("/", "\\/")];
}

/** A secret that no answer may show, prepared for searching. */
export class HiddenSecret {
  readonly text: string;
  readonly bytes: Buffer;
  /**
   * Horspool's table: how far the search may skip ahead, by the last byte of the current window. So most bytes are
   * never examined, and every chunk of a stream can be searched.
   */
  readonly steps: Uint32Array;

  constructor(text: string) {
    this.text = text;
    this.bytes = Buffer.from(text);
    const { length } = this.bytes;
    this.steps = new Uint32Array(256).fill(length);
    for (let at = 0; at < length - 1; at += 1) this.steps[this.bytes[at] as number] = length - 1 - at;
  }

  /** A short text with stars in place of the secret. */
  hiddenIn(text: string): string {
    return text.includes(this.text) ? text.replaceAll(this.text, "*".repeat(this.text.length)) : text;
  }
}

/** Masks secrets with stars, even if they are spread over several pieces. Each filter masks one, and hands on the rest. */
export class SecretFilter {
  readonly #secret: HiddenSecret;
  readonly #next: SecretFilter | undefined;
  /** The end of what has come, if it may be the beginning of the secret. */
  #kept: Buffer | undefined;

  private constructor(secret: HiddenSecret, next: SecretFilter | undefined) {
    this.#secret = secret;
    this.#next = next;
  }

  /** Undefined if there are none. */
  static of(secrets: readonly HiddenSecret[]): SecretFilter | undefined {
    return secrets.reduceRight<SecretFilter | undefined>((next, secret) => new SecretFilter(secret, next), undefined);
  }

  /**
   * What can be passed on now; undefined if there is nothing. The piece itself may be modified. The total length stays
   * the same.
   */
  add(piece: Buffer): Buffer | undefined {
    const bytes = this.#kept ? Buffer.concat([this.#kept, piece]) : piece;
    const end = this.#beginningFrom(this.#hide(bytes), bytes);
    this.#kept = end === bytes.length ? undefined : bytes.subarray(end);
    const shown = end === bytes.length ? bytes : bytes.subarray(0, end);
    if (shown.length === 0) return undefined;
    return this.#next ? this.#next.add(shown) : shown;
  }

  /** What was held back, once the text has ended. */
  rest(): Buffer | undefined {
    const kept = this.#kept;
    if (!this.#next) return kept;
    const parts = [kept && this.#next.add(kept), this.#next.rest()].filter((part) => part !== undefined);
    return parts.length > 0 ? Buffer.concat(parts) : undefined;
  }

  /** Masks the secret wherever it is complete. Returns the position from which it no longer fits. */
  #hide(bytes: Buffer): number {
    const { bytes: secret, steps } = this.#secret;
    const { length } = bytes;
    const last = secret.length - 1;
    let at = 0;
    while (at + last < length) {
      const byte = bytes[at + last] as number;
      // The last and the first byte are tested first: the last alone may be a common one, and a comparison costs more
      // than many steps.
      const mayBe = byte === secret[last] && bytes[at] === secret[0];
      if (mayBe && bytes.compare(secret, 0, last, at, at + last) === 0) {
        bytes.fill(star, at, at + last + 1);
        at += last + 1;
      } else {
        at += steps[byte] as number;
      }
    }
    return at;
  }

  /** The position of a beginning of the secret at the end of the bytes; otherwise their end. */
  #beginningFrom(from: number, bytes: Buffer): number {
    const { bytes: secret, steps } = this.#secret;
    const { length } = bytes;
    // Nearly always, the last byte does not occur in the secret.
    if (from >= length || steps[bytes[length - 1] as number] === secret.length) return length;
    for (let at = from; at < length; at += 1) {
      if (bytes[at] === secret[0] && bytes.compare(secret, 0, length - at, at) === 0) return at;
    }
    return length;
  }
}
