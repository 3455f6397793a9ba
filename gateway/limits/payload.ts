import { Readable } from "node:stream";

/** A page that is sent as it comes: the part that is being read and the part that is being sent. */
const streamBytes = 4 * 1024 * 1024;
/** A larger answer does not disappear into network buffers at once. */
export const largeBytes = 64 * 1024;

/** Bytes that stay in memory permanently, and are shared by all answers. */
const sharedBytes = new WeakSet<Uint8Array>();

/** Excludes bytes that stay in memory anyway from the count, however many of their readers are slow. */
export function markShared(bytes: Buffer): Buffer {
  sharedBytes.add(bytes);
  return bytes;
}

/** How much memory an answer takes while it is sent. */
export function payloadBytes(payload: unknown): number {
  // The length of a small text is close enough: measuring it would take longer than everything else here.
  if (typeof payload === "string") return payload.length > largeBytes ? Buffer.byteLength(payload) : payload.length;
  if (payload instanceof Uint8Array) return sharedBytes.has(payload) ? 0 : payload.length;
  return payload instanceof Readable ? streamBytes : 0;
}

/**
 * A large text that waits for its reader would take three times its size: as text, joined with its headers, and as
 * bytes.
 */
export function largeTextAsBytes(payload: unknown): unknown {
  return typeof payload === "string" && payload.length > largeBytes ? Buffer.from(payload) : payload;
}
