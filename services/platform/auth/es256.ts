import { type KeyObject, sign, verify } from "node:crypto";

/** An ES256 JWT (RFC 7519, 7518) that was taken apart. Nothing of it is trusted before its signature was checked. */
export interface SignedJwt {
  readonly kid: string;
  /** What the signature is of. */
  readonly content: string;
  readonly payloadText: string;
  /** The two numbers of the signature, 32 bytes each. */
  readonly signature: Buffer;
}

/** The three parts in base64url, the last of 64 bytes. */
const pattern = /^([\w-]+)\.([\w-]+)\.([\w-]{86})$/;
const numberBytes = 32;

export function signJwt(payload: object, { privateKey, kid }: { privateKey: KeyObject; kid: string }): string {
  const header = { alg: "ES256", typ: "JWT", kid };
  const content = `${encoded(JSON.stringify(header))}.${encoded(JSON.stringify(payload))}`;
  return `${content}.${rawFromDer(sign("sha256", Buffer.from(content), privateKey)).toString("base64url")}`;
}

/** Undefined for anything but a JWT that says ES256 and names its key. */
export function readJwt(text: string): SignedJwt | undefined {
  const [, header, payload, signature] = pattern.exec(text) ?? [];
  if (header === undefined || payload === undefined || signature === undefined) return undefined;
  const { alg, kid, crit } = (parsed(decoded(header)) ?? {}) as Record<string, unknown>;
  // An extension that must be understood is one that we do not know.
  if (alg !== "ES256" || typeof kid !== "string" || crit !== undefined) return undefined;
  return {
    kid,
    content: text.slice(0, header.length + 1 + payload.length),
    payloadText: payload,
    signature: Buffer.from(signature, "base64url"),
  };
}

/** The claims of a JWT that this key has signed, whatever they are; undefined for one that it has not, or that has none. */
export function payloadOf({ content, payloadText, signature }: SignedJwt, publicKey: KeyObject): unknown {
  const isSigned = verify("sha256", Buffer.from(content), publicKey, derFromRaw(signature));
  return isSigned ? parsed(decoded(payloadText)) : undefined;
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

// OpenSSL writes a signature in DER, a JWT holds its bare numbers. `dsaEncoding: "ieee-p1363"` would translate, but takes
// longer for it than signing does.

function rawFromDer(der: Buffer): Buffer {
  const raw = Buffer.alloc(2 * numberBytes);
  // Behind the head of the sequence there are two integers: 02, a length, and that many bytes.
  let at = 2;
  for (const end of [numberBytes, 2 * numberBytes]) {
    const from = at + 2;
    at = from + (der[at + 1] as number);
    // A zero in front only says that the number is positive.
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
