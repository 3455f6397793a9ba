import { createHash, createPrivateKey, createPublicKey, type KeyObject, type webcrypto } from "node:crypto";
import type { Jwk } from "../../platform/auth/key-set.ts";

/** A private key that access tokens are signed with, and its public half as the JWKS shows it. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly jwk: Jwk;
}

/** The first key signs; all are published, so that tokens of the previous key and of the next one are valid, too. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]];

/** `openssl ecparam -genkey` writes the curve parameters before the key, which contains them, too. */
const pemBlock = /-----BEGIN (?!EC PARAMETERS)[A-Z0-9 ]+-----.*?-----END [A-Z0-9 ]+-----/gs;

/** The private keys of a PEM text, in order. Throws an Error that names the source and shows nothing of the text. */
export function parseSigningKeys(pem: string, source: string): SigningKeys {
  // A variable that must be one line often contains `\n` for its line breaks.
  const blocks = pem.replaceAll("\\n", "\n").match(pemBlock) ?? [];
  const [first, ...others] = blocks.map((block, index) => {
    const privateKey = privateKeyFrom(block);
    if (privateKey?.asymmetricKeyDetails?.namedCurve === "prime256v1") return signingKeyFrom(privateKey);
    throw new Error(
      `${source} must hold unencrypted EC P-256 private keys only; PEM block ${index + 1} is something else`,
    );
  });
  if (!first) throw new Error(`${source} must hold a private key as PEM text (-----BEGIN PRIVATE KEY-----)`);
  return [first, ...others];
}

function signingKeyFrom(privateKey: KeyObject): SigningKey {
  const { kty, crv, x, y } = createPublicKey(privateKey).export({ format: "jwk" }) as Required<webcrypto.JsonWebKey>;
  // RFC 7638: only the required members, in alphabetical order, without white space.
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  return { privateKey, jwk: { kty, crv, x, y, kid, alg: "ES256", use: "sig" } };
}

function privateKeyFrom(block: string): KeyObject | undefined {
  try {
    return createPrivateKey(block);
  } catch {
    return undefined;
  }
}
