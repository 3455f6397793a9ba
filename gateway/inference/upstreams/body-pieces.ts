/** Larger bodies are sent in pieces, so that progress is known, and an early answer is noticed. */
const pieceBytes = 256 * 1024;

/**
 * A body in pieces. A piece that was taken is not kept: a request lives as long as its answer, which may take minutes.
 */
export class BodyPieces {
  readonly #left: Buffer[];

  constructor(parts: readonly Buffer[]) {
    this.#left = parts.toReversed();
  }

  /** Undefined if there is no more. */
  next(): Buffer | undefined {
    const part = this.#left.pop();
    if (part === undefined || part.length <= pieceBytes) return part;
    this.#left.push(part.subarray(pieceBytes));
    return part.subarray(0, pieceBytes);
  }
}
