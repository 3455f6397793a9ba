import { randomFillSync } from "node:crypto";
import { v7, validate } from "uuid";

/** Random bytes for 256 ids: asking the system for 16 at a time costs more than all the rest of an id. */
const randomBytes = Buffer.alloc(4096);
let randomUsed = randomBytes.length;

let lastMs = 0;
let sequence = 0;

/** A new UUIDv7: it sorts after every id that this process made before, so new rows go to the end of an index. */
export function newId(): string {
  if (randomUsed === randomBytes.length) {
    randomFillSync(randomBytes);
    randomUsed = 0;
  }
  const random = randomBytes.subarray(randomUsed, randomUsed + 16);
  randomUsed += 16;
  // Within a millisecond, or while the clock is set back, the sequence goes on. It begins low enough never to run over.
  const now = Date.now();
  if (now > lastMs) sequence = random.readUInt32BE(0) >>> 1;
  else sequence += 1;
  lastMs = Math.max(lastMs, now);
  return v7({ random, msecs: lastMs, seq: sequence });
}

export function isId(text: string): boolean {
  return validate(text);
}

/** The 16 bytes that an id is stored as. The text must be an id. */
export function idToBytes(id: string): Buffer {
  const hex = id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);
  return Buffer.from(hex, "hex");
}

export function idFromBytes(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
