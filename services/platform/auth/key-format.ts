import { crc32 } from "node:zlib";

/** The prefix says what a secret is for, so that none is ever taken for one of another kind. */
const prefixes = { key: "sk-sp-v1-", session: "sess-sp-v1-", ticket: "ticket-sp-v1-" } as const;
type SecretKind = keyof typeof prefixes;

export const keyPrefix = prefixes.key;

const bodyPattern = /^[A-Za-z0-9_-]{43}[A-Za-z0-9]{6}$/;
const checksumLength = 6;

/** The digits of base 62, lowest first. */
export const base62Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The secret that carries these 32 bytes: the prefix, the bytes in base64url, and a checksum over both. */
export function secretFromBytes(kind: SecretKind, bytes: Buffer): string {
  const body = `${prefixes[kind]}${bytes.toString("base64url")}`;
  return body + checksumOf(body);
}

export function keyFromBytes(bytes: Buffer): string {
  return secretFromBytes("key", bytes);
}

/**
 * Whether a text can be a secret of this kind at all, so that a typo or another system's key is refused without a
 * lookup.
 */
export function isSecret(kind: SecretKind, text: string): boolean {
  const prefix = prefixes[kind];
  if (!text.startsWith(prefix) || !bodyPattern.test(text.slice(prefix.length))) return false;
  return text.endsWith(checksumOf(text.slice(0, -checksumLength)));
}

export function isKey(text: string): boolean {
  return isSecret("key", text);
}

/** Whether a text contains a key, or a secret that stands for one. */
export function containsKey(text: string): boolean {
  return Object.values(prefixes).some((prefix) => text.includes(prefix));
}

/** The text with every key, and every secret that stands for one, truncated. */
export function redactKeys(text: string): string {
  return text.replaceAll(/((?:sk|sess|ticket)-sp-v1-)[A-Za-z0-9_-]+/g, "$1…");
}

/** The CRC-32 in base 62, padded to its longest length. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = "";
  while (digits.length < checksumLength) {
    digits = base62Digits.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
