import { parse, stringify, v7, validate } from "uuid";

/** A new UUIDv7: it sorts by time, so new rows go to the end of an index. */
export function newId(): string {
  return v7();
}

export function isId(text: string): boolean {
  return validate(text);
}

/** The 16 bytes that an id is stored as. */
export function idToBytes(id: string): Buffer {
  return Buffer.from(parse(id));
}

export function idFromBytes(bytes: Uint8Array): string {
  return stringify(bytes);
}
