import {
  brotliDecompressSync,
  gunzipSync,
  type InputType,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
  zstdDecompressSync,
} from "node:zlib";

/** Much more than any error has, and little enough to be decoded in one go. */
const encodedBytesMax = 64 * 1024;
const decodedBytesMax = 1024 * 1024;

/** A server and the proxies before it may each have compressed it. */
const encodingsMax = 4;

const nothing = Buffer.alloc(0);

type Decode = (bytes: InputType, options: Pick<ZlibOptions, "maxOutputLength">) => Buffer;

const decoders: Readonly<Record<string, Decode | undefined>> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  deflate: inflate,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Many servers leave out the wrapping that the standard asks for. */
function inflate(bytes: InputType, options: Pick<ZlibOptions, "maxOutputLength">): Buffer {
  try {
    return inflateSync(bytes, options);
  } catch {
    return inflateRawSync(bytes, options);
  }
}

/**
 * An error that came compressed, although that was not asked for. It is decoded, so that secrets in it can be masked.
 */
export class EncodedError {
  /** In the order in which they are undone. */
  readonly #decoders: readonly Decode[];
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  private constructor(decoders: readonly Decode[]) {
    this.#decoders = decoders;
  }

  /** Undefined if there is no encoding, or one that is not supported. */
  static of(encoding: string | string[] | undefined): EncodedError | undefined {
    const names =
      String(encoding ?? "")
        .toLowerCase()
        .match(/[^,\s]+/g) ?? [];
    const applied = names.filter((name) => name !== "identity" && name !== "none");
    const known = applied.map((name) => decoders[name]).filter((decode) => decode !== undefined);
    if (known.length < applied.length || known.length === 0 || known.length > encodingsMax) return undefined;
    return new EncodedError(known.reverse());
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes <= encodedBytesMax) this.#pieces.push(piece);
  }

  /** Empty if it cannot be decoded or is too long. Its status says enough. */
  text(): Buffer {
    if (this.#bytes > encodedBytesMax) return nothing;
    try {
      return this.#decoders.reduce<Buffer>(
        (bytes, decode) => decode(bytes, { maxOutputLength: decodedBytesMax }),
        Buffer.concat(this.#pieces),
      );
    } catch {
      return nothing;
    }
  }
}
