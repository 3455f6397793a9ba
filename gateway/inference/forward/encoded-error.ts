import {
  brotliDecompressSync,
  gunzipSync,
  type InputType,
  inflateSync,
  type ZlibOptions,
  zstdDecompressSync,
} from "node:zlib";

/** Much more than any error has, and little enough to be decoded in one go. */
const encodedBytesMax = 64 * 1024;
const decodedBytesMax = 1024 * 1024;

const nothing = Buffer.alloc(0);

type Decode = (bytes: InputType, options: Pick<ZlibOptions, "maxOutputLength">) => Buffer;

const decoders: Readonly<Record<string, Decode | undefined>> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/**
 * An error that came compressed, although that was not asked for. It is decoded, so that secrets in it can be masked.
 */
export class EncodedError {
  readonly #decode: Decode;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  private constructor(decode: Decode) {
    this.#decode = decode;
  }

  /** Undefined if the encoding is not supported. */
  static of(encoding: string | string[] | undefined): EncodedError | undefined {
    const decode = typeof encoding === "string" ? decoders[encoding.toLowerCase()] : undefined;
    return decode && new EncodedError(decode);
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes <= encodedBytesMax) this.#pieces.push(piece);
  }

  /** Empty if it cannot be decoded or is too long. Its status says enough. */
  text(): Buffer {
    if (this.#bytes > encodedBytesMax) return nothing;
    try {
      return this.#decode(Buffer.concat(this.#pieces), { maxOutputLength: decodedBytesMax });
    } catch {
      return nothing;
    }
  }
}
