/** Puts stars in the place of a secret, wherever the text that repeats it is cut into pieces. */
export class HiddenSecret {
  readonly #secret: Buffer;
  /** The end of what has come, where it may be the beginning of the secret. */
  #kept: Buffer = Buffer.alloc(0);

  constructor(secret: string) {
    this.#secret = Buffer.from(secret);
  }

  /** What can be shown now, of the same length in the end; undefined where there is nothing. The piece itself may be changed. */
  add(piece: Buffer): Buffer | undefined {
    const secret = this.#secret;
    const bytes = this.#kept.length === 0 ? piece : Buffer.concat([this.#kept, piece]);
    for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + secret.length)) {
      bytes.fill("*", at, at + secret.length);
    }
    const end = this.#beginningIn(bytes);
    this.#kept = bytes.subarray(end);
    return end === 0 ? undefined : bytes.subarray(0, end);
  }

  /** What was kept back of a text that has come to its end. */
  rest(): Buffer | undefined {
    return this.#kept.length === 0 ? undefined : this.#kept;
  }

  /** Where the beginning of the secret stands that the bytes end with; their end where there is none. */
  #beginningIn(bytes: Buffer): number {
    const { length } = bytes;
    for (let at = Math.max(0, length - this.#secret.length + 1); at < length; at += 1) {
      if (bytes.compare(this.#secret, 0, length - at, at) === 0) return at;
    }
    return length;
  }
}
