import { IncomingMessage } from "./node-http.ts";

/** Longer pieces are passed on as they are. */
const shortBytesMax = 1_024;
/** So are the first short ones: an ordinary body has no more. */
const ordinaryPieces = 16;
/** After so many, no more are read in this turn of the event loop: Node would read up to 2 MiB, which takes long. */
const piecesMax = 1_000;

/**
 * The body of a request may arrive in pieces of a byte, ten thousand of them in one packet. Whoever reads it would keep
 * an object for each, which takes a hundred times as much. So short pieces that arrive together are passed on as one.
 */
export class GatheredRequest extends IncomingMessage {
  #shortPieces = 0;
  #gathered: Buffer[] = [];
  #bytes = 0;

  /** Called by Node with each piece, and null at the end. Returns whether it should go on reading. */
  override push(piece: Buffer | null): boolean {
    if (piece && piece.length <= shortBytesMax) {
      this.#shortPieces += 1;
      if (this.#shortPieces > ordinaryPieces) return this.#gather(piece);
    }
    this.#passOn();
    return super.push(piece);
  }

  #gather(piece: Buffer): boolean {
    if (this.#gathered.length === 0) setImmediate(() => this.#passOn());
    this.#gathered.push(piece);
    this.#bytes += piece.length;
    return this.#gathered.length < piecesMax && this.readableLength + this.#bytes < this.readableHighWaterMark;
  }

  #passOn(): void {
    if (this.#gathered.length === 0) return;
    const bytes = Buffer.concat(this.#gathered, this.#bytes);
    this.#gathered = [];
    this.#bytes = 0;
    super.push(bytes);
  }
}
