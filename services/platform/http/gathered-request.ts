import { IncomingMessage } from "./node-http.ts";

/** Longer pieces are passed on as they are. */
const shortBytesMax = 1_024;
/** So are the first short ones: an ordinary body has no more. */
const ordinaryPieces = 16;
/** After so many, no more are read in this turn of the event loop: Node would read up to 2 MiB, which takes long. */
const piecesMax = 1_000;
/** A body of more short pieces than this, which are shorter than this on average, is read in turns. */
const [unusualPieces, unusualBytes] = [2_000, 64];
/**
 * Between two turns. Node parses all of a packet, which for pieces of a byte takes some 10 ms: so all such bodies
 * together take a quarter of a core.
 */
const turnEveryMs = 40;

/**
 * The body of a request may arrive in pieces of a byte, ten thousand of them in one packet. Whoever reads it would keep
 * an object for each, which takes a hundred times as much. So short pieces that arrive together are passed on as one.
 */
export class GatheredRequest extends IncomingMessage {
  /** Those that are read in turns: one after the other, a packet at a time. */
  static readonly #queue: GatheredRequest[] = [];
  #shortPieces = 0;
  #shortBytes = 0;
  #gathered: Buffer[] = [];
  #bytes = 0;
  /** How many pieces were gathered since some were passed on. */
  #pieces = 0;
  #isWaiting = false;

  /** Called by Node with each piece, and null at the end. Returns whether it should go on reading. */
  override push(piece: Buffer | null): boolean {
    if (piece && piece.length <= shortBytesMax) {
      this.#shortPieces += 1;
      this.#shortBytes += piece.length;
      if (this.#shortPieces > ordinaryPieces) return this.#gather(piece);
    }
    this.#passOn();
    return super.push(piece);
  }

  #gather(piece: Buffer): boolean {
    if (!this.#isWaiting) this.#wait();
    this.#gathered.push(piece);
    this.#bytes += piece.length;
    this.#pieces += 1;
    // The rest of the packet still comes, and may have to wait for long.
    if (this.#pieces % piecesMax === 0) this.#gathered = [Buffer.concat(this.#gathered, this.#bytes)];
    return this.#pieces < piecesMax && this.readableLength + this.#bytes < this.readableHighWaterMark;
  }

  #wait(): void {
    this.#isWaiting = true;
    const queue = GatheredRequest.#queue;
    const isUnusual = this.#shortPieces > unusualPieces && this.#shortBytes < unusualBytes * this.#shortPieces;
    if (!isUnusual) setImmediate(() => this.#takeTurn());
    else if (queue.push(this) === 1) setTimeout(GatheredRequest.#takeNextTurn, turnEveryMs);
  }

  static #takeNextTurn(): void {
    const queue = GatheredRequest.#queue;
    let request = queue.shift();
    while (request?.destroyed) request = queue.shift();
    if (request) request.#takeTurn();
    if (queue.length > 0) setTimeout(GatheredRequest.#takeNextTurn, turnEveryMs);
  }

  #takeTurn(): void {
    this.#isWaiting = false;
    this.#passOn();
  }

  /** To whoever reads the body, and then asks for more. */
  #passOn(): void {
    if (this.#gathered.length === 0) return;
    const bytes = Buffer.concat(this.#gathered, this.#bytes);
    this.#gathered = [];
    this.#bytes = 0;
    this.#pieces = 0;
    super.push(bytes);
  }
}
