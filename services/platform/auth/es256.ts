import { type KeyObject, sign, verify } from "node:crypto";
import { batchContent, decodeProof, encodeProof, proveBatch, rootOf } from "./token-batch.ts";

/** A parsed ES256 JWT (RFC 7519, 7518). Nothing in it is trusted before its signature is verified. */
export interface SignedJwt {
  readonly kid: string;
  /** The signed content. */
  readonly content: string;
  readonly payloadText: string;
  /** The two numbers of the signature, 32 bytes each. */
  readonly signature: Buffer;
  /** If it was signed as part of a batch: the content and signature of the batch, which can replace its own. */
  readonly batch: { readonly content: string; readonly signature: Buffer } | undefined;
}

interface JwtKey {
  readonly privateKey: KeyObject;
  readonly kid: string;
}

/** The three parts in base64url, the last of 64 bytes. */
const pattern = /^([\w-]+)\.([\w-]+)\.([\w-]{86})$/;
const numberBytes = 32;

export function signJwt(payload: object, key: JwtKey): string {
  return signedJwt(encoded(JSON.stringify(payload)), key, {});
}

/** Several at once, which can be verified faster together. */
export function signJwts(payloads: readonly object[], key: JwtKey): string[] {
  const texts = payloads.map((payload) => encoded(JSON.stringify(payload)));
  if (texts.length < 2) return texts.map((text) => signedJwt(text, key, {}));
  const { root, proofs } = proveBatch(texts);
  const signature = signatureOf(batchContent(root), key);
  return texts.map((text, index) => signedJwt(text, key, { batch: encodeProof(signature, proofs[index] ?? []) }));
}

function signedJwt(payload: string, key: JwtKey, more: { readonly batch?: string }): string {
  const content = `${encoded(JSON.stringify({ alg: "ES256", typ: "JWT", kid: key.kid, ...more }))}.${payload}`;
  return `${content}.${signatureOf(content, key).toString("base64url")}`;
}

function signatureOf(content: string, { privateKey }: JwtKey): Buffer {
  return rawFromDer(sign("sha256", Buffer.from(content), privateKey));
}

/** Undefined for anything other than a JWT that says ES256 and names its key. */
export function readJwt(text: string): SignedJwt | undefined {
  const [, header, payload, signature] = pattern.exec(text) ?? [];
  if (header === undefined || payload === undefined || signature === undefined) return undefined;
  const { alg, kid, crit, batch } = (parsed(decoded(header)) ?? {}) as Record<string, unknown>;
  // `crit` lists extensions that must be understood, and we know none.
  if (alg !== "ES256" || typeof kid !== "string" || crit !== undefined) return undefined;
  return {
    kid,
    content: text.slice(0, header.length + 1 + payload.length),
    payloadText: payload,
    signature: Buffer.from(signature, "base64url"),
    batch: typeof batch === "string" ? readBatch(batch, payload) : undefined,
  };
}

function readBatch(batch: string, payload: string): SignedJwt["batch"] {
  const read = decodeProof(batch, 2 * numberBytes);
  return read && { content: batchContent(rootOf(payload, read.proof)), signature: read.signature };
}

/** The claims of a JWT, whatever they are; undefined if it has none. */
export function payloadOf({ payloadText }: SignedJwt): unknown {
  return parsed(decoded(payloadText));
}

export function isSigned(content: string, signature: Buffer, publicKey: KeyObject): boolean {
  return verify("sha256", Buffer.from(content), publicKey, derFromRaw(signature));
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64url");
}

function decoded(base64url: string): string {
  return Buffer.from(base64url, "base64url").toString();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// OpenSSL writes a signature in DER, a JWT contains the bare numbers. `dsaEncoding: "ieee-p1363"` would convert it, but
// takes longer than the signing itself.

function rawFromDer(der: Buffer): Buffer {
  const raw = Buffer.alloc(2 * numberBytes);
  // After the header of the sequence there are two integers: 02, a length, and that many bytes.
  let at = 2;
  for (const end of [numberBytes, 2 * numberBytes]) {
    const from = at + 2;
    at = from + (der[at + 1] as number);
    // A leading zero only marks the number as positive.
    const digits = der.subarray(Math.max(from, at - numberBytes), at);
    digits.copy(raw, end - digits.length);
  }
  return raw;
}

function derFromRaw(raw: Buffer): Buffer {
  const numbers = [raw.subarray(0, numberBytes), raw.subarray(numberBytes)].map((digits) => {
    let first = 0;
    while (first < numberBytes - 1 && digits[first] === 0) first += 1;
    const isNegative = (digits[first] as number) > 0x7f;
    return { zeros: isNegative ? [0] : [], digits: digits.subarray(first) };
  });
  const integers = numbers.flatMap(({ zeros, digits }) => [
    Buffer.from([0x02, zeros.length + digits.length, ...zeros]),
    digits,
  ]);
  const body = Buffer.concat(integers);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}
