import { createPublicKey, type KeyObject, type webcrypto } from "node:crypto";

/** A public key that tokens may be signed with, as it stands in a JWKS. */
export interface Jwk extends webcrypto.JsonWebKey {
  readonly kid: string;
}

/** What the organization service publishes. */
export interface KeySet {
  readonly keys: readonly Jwk[];
  /** The time of its clock at that moment; undefined if it did not say. */
  readonly timeMs?: number | undefined;
}

/** Where the key set comes from: the organization service's own, its RPC, or its JWKS over HTTP. */
export type FetchKeySet = () => Promise<KeySet>;

export const fetchTimeoutMs = 3_000;
/** A key takes some 200 bytes. */
const keySetBytesMax = 64 * 1024;

/** Fetches `/.well-known/jwks.json` of the organization service. */
export function jwksFrom(url: string): FetchKeySet {
  return async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(fetchTimeoutMs), redirect: "error" });
    if (!response.ok) throw new Error(`GET ${url} answered ${response.status}`);
    const timeMs = Date.parse(response.headers.get("date") ?? "");
    return { keys: keysFromJson(await readText(response)), timeMs: Number.isNaN(timeMs) ? undefined : timeMs };
  };
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    // Leaving the loop ends the connection.
    if (bytes > keySetBytesMax) throw new Error(`a key set is larger than ${keySetBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The keys of a JWKS, as JSON text. */
export function keysFromJson(text: string): readonly Jwk[] {
  const { keys } = (JSON.parse(text) ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error("a key set has no list of keys");
  return keys;
}

/** The keys that can verify a token, by their ids. A set may hold others; where two share an id, the first counts. */
export function importKeys(keys: readonly unknown[]): Map<string, KeyObject> {
  const imported = new Map<string, KeyObject>();
  for (const jwk of keys) {
    const { kid, kty, crv, use = "sig", alg = "ES256" } = (jwk ?? {}) as Partial<Jwk>;
    if (typeof kid !== "string" || kty !== "EC" || crv !== "P-256" || use !== "sig" || alg !== "ES256") continue;
    const key = imported.get(kid) ?? publicKeyFrom(jwk as Jwk);
    if (key) imported.set(kid, key);
  }
  if (imported.size === 0) throw new Error("a key set has no key that verifies access tokens");
  return imported;
}

function publicKeyFrom(jwk: Jwk): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    // Not a point on the curve. The other keys of the set remain usable.
    return undefined;
  }
}
