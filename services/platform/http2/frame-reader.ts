import { ConnectionError, errorCodes, frameBytesMax, frameHeadBytes, streamIdMax } from "./protocol.ts";

type OnFrame = (type: number, flags: number, streamId: number, payload: Buffer) => void;

/** Assembles frames from chunks, which may be as small as a byte. */
export class FrameReader {
  readonly #onFrame: OnFrame;
  /** The beginning of a frame, with room for all of it, or for its header until that is complete. */
  #partial: Buffer | undefined;
  #partialBytes = 0;

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  /** Throws ConnectionError, and whatever the listener throws. */
  read(chunk: Buffer): void {
    let start = this.#partial ? this.#complete(chunk) : 0;
    while (chunk.length - start >= frameHeadBytes) {
      const end = start + frameHeadBytes + payloadBytes(chunk, start);
      if (end > chunk.length) break;
      this.#emit(chunk, start, end);
      start = end;
    }
    if (start < chunk.length) this.#keep(chunk, start);
  }

  /** Completes a frame that began in an earlier chunk. Returns where in this chunk the next one begins. */
  #complete(chunk: Buffer): number {
    let taken = 0;
    while (this.#partial) {
      const partial = this.#partial;
      const copied = chunk.copy(partial, this.#partialBytes, taken);
      taken += copied;
      this.#partialBytes += copied;
      if (this.#partialBytes < partial.length) return taken;
      this.#partial = undefined;
      const frameBytes = frameHeadBytes + payloadBytes(partial, 0);
      if (frameBytes === partial.length) this.#emit(partial, 0, frameBytes);
      else this.#makeRoom(frameBytes, partial);
    }
    return taken;
  }

  #keep(chunk: Buffer, start: number): void {
    const isHeadThere = chunk.length - start >= frameHeadBytes;
    this.#makeRoom(isHeadThere ? frameHeadBytes + payloadBytes(chunk, start) : frameHeadBytes, chunk.subarray(start));
  }

  #makeRoom(bytes: number, beginning: Buffer): void {
    this.#partial = Buffer.allocUnsafe(bytes);
    this.#partialBytes = beginning.copy(this.#partial);
  }

  #emit(bytes: Buffer, start: number, end: number): void {
    const streamId = bytes.readUInt32BE(start + 5) & streamIdMax;
    this.#onFrame(
      bytes[start + 3] as number,
      bytes[start + 4] as number,
      streamId,
      bytes.subarray(start + frameHeadBytes, end),
    );
  }
}

function payloadBytes(bytes: Buffer, start: number): number {
  const length = bytes.readUIntBE(start, 3);
  if (length > frameBytesMax) throw new ConnectionError(errorCodes.frameSize, "A frame is too large");
  return length;
}
