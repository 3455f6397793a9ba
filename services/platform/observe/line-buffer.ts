/** Lines are collected in pieces of this size, which is about what one write takes. */
const pieceBytes = 64 * 1024;
/** The most that a character takes. */
const characterBytes = 3;

/** Lines that wait to be written, collected as they come. */
export class LineBuffer {
  /** Pieces that have no more room, the oldest first. */
  readonly #full: Buffer[] = [];
  /** The piece that lines are added to. What is before `#from` has been taken. */
  #piece = Buffer.allocUnsafeSlow(pieceBytes);
  #from = 0;
  #to = 0;
  #bytes = 0;

  /** Of all that waits. */
  get bytes(): number {
    return this.#bytes;
  }

  add(line: string): void {
    if (!this.#hasRoomFor(line)) this.#beginPiece(Buffer.byteLength(line));
    const bytes = this.#piece.write(line, this.#to);
    this.#to += bytes;
    this.#bytes += bytes;
  }

  /** The oldest lines, as many as are in one piece; empty if none wait. */
  take(): Buffer {
    const taken = this.#full.shift() ?? this.#takeFromPiece();
    this.#bytes -= taken.length;
    return taken;
  }

  #hasRoomFor(line: string): boolean {
    const room = this.#piece.length - this.#to;
    return line.length * characterBytes <= room || Buffer.byteLength(line) <= room;
  }

  #beginPiece(bytesMin: number): void {
    if (this.#from < this.#to) this.#full.push(this.#takeFromPiece());
    this.#piece = Buffer.allocUnsafeSlow(Math.max(pieceBytes, bytesMin));
    this.#from = this.#to = 0;
  }

  #takeFromPiece(): Buffer {
    const lines = this.#piece.subarray(this.#from, this.#to);
    this.#from = this.#to;
    return lines;
  }
}
