import { crc32 } from "node:zlib";

const prefix = "sk-sp-v1-";
const pattern = /^sk-sp-v1-[A-Za-z0-9_-]{43}[A-Za-z0-9]{6}$/;
const checksumLength = 6;

/** The digits of base 62, lowest first. */
export const base62Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The key that carries these 32 bytes: the prefix, the bytes in base64url, and a checksum over both. */
export function keyFromBytes(bytes: Buffer): string {
  const body = `${prefix}${bytes.toString("base64url")}`;
  return body + checksumOf(body);
}

/** Whether a text can be a key at all, so that a typo or another system's key is refused without a look-up. */
export function isKey(text: string): boolean {
  return pattern.test(text) && text.endsWith(checksumOf(text.slice(0, -checksumLength)));
}

/** Whether a text could give a key away. */
export function holdsKey(text: string): boolean {
  return text.includes(prefix);
}

/** The text with every key cut short. */
export function withoutKeys(text: string): string {
  return text.replaceAll(/sk-sp-v1-[A-Za-z0-9_-]+/g, `${prefix}…`);
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
