import { randomFillSync } from "node:crypto";
import { v7, validate } from "uuid";

const idBytes = 16;

/** Random bytes for 256 ids: asking the system for one id's at a time costs more than the rest of an id. */
const randomBytes = Buffer.alloc(256 * idBytes);
const randoms = Array.from({ length: 256 }, (_, n) => randomBytes.subarray(n * idBytes, (n + 1) * idBytes));
let randomsUsed = randoms.length;

let lastMs = 0;
let sequence = 0;

/** A new UUIDv7: it sorts after every id that this process made before, so new rows go to the end of an index. */
export function newId(): string {
  if (randomsUsed === randoms.length) {
    randomFillSync(randomBytes);
    randomsUsed = 0;
  }
  const random = randoms[randomsUsed] as Buffer;
  randomsUsed += 1;
  // Within a millisecond, or while the clock is set back, the sequence continues. It starts low enough never to
  // overflow.
  const now = Date.now();
  if (now > lastMs) sequence = random.readUInt32BE(0) >>> 1;
  else sequence += 1;
  lastMs = Math.max(lastMs, now);
  return idFromBytes(v7({ random, msecs: lastMs, seq: sequence }, random));
}

export function isId(text: string): boolean {
  return validate(text);
}

// A row has several ids, and a batch many rows: digit by digit is twice as fast as slicing and joining texts.

/** Where the digits of each byte stand in the text. */
const places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const digits = Buffer.from("0123456789abcdef");
const digitValues = new Uint8Array(128);
for (const [value, digit] of digits.entries()) {
  digitValues[digit] = value;
  digitValues[String.fromCharCode(digit).toUpperCase().charCodeAt(0)] = value;
}

/** The 16 bytes that an id is stored as. The text must be an id. */
export function idToBytes(id: string): Buffer {
  const bytes = Buffer.allocUnsafe(idBytes);
  for (let index = 0; index < idBytes; index++) {
    const place = places[index] as number;
    const high = digitValues[id.charCodeAt(place)] as number;
    const low = digitValues[id.charCodeAt(place + 1)] as number;
    bytes[index] = (high << 4) | low;
  }
  return bytes;
}

/** The dashes stay where they are. */
const text = Buffer.alloc(36, "-");

export function idFromBytes(bytes: Uint8Array): string {
  for (let index = 0; index < idBytes; index++) {
    const place = places[index] as number;
    const byte = bytes[index] as number;
    text[place] = digits[byte >> 4] as number;
    text[place + 1] = digits[byte & 15] as number;
  }
  return text.toString("latin1");
}
