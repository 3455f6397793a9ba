import { Readable } from "node:stream";

/** A page that is sent as it comes: the part that is being read and the part that is being sent. */
const streamBytes = 4 * 1024 * 1024;
/** An answer that is larger than this does not vanish into the buffers of the network at once. */
export const largeBytes = 64 * 1024;

/** What is in memory for good, and once for all who are sent it. */
const sharedBytes = new WeakSet<Uint8Array>();

/** Has bytes that stay in memory anyway not counted, however many of their readers are slow. */
export function markShared(bytes: Buffer): Buffer {
  sharedBytes.add(bytes);
  return bytes;
}

/** How much memory an answer takes while it is sent. */
export function payloadBytes(payload: unknown): number {
  // The length of a small text is close enough: to measure it would take longer than all else here.
  if (typeof payload === "string") return payload.length > largeBytes ? Buffer.byteLength(payload) : payload.length;
  if (payload instanceof Uint8Array) return sharedBytes.has(payload) ? 0 : payload.length;
  return payload instanceof Readable ? streamBytes : 0;
}

/** A large text that waits for its reader would take three times its size: as such, joined with its head, and as bytes. */
export function largeTextAsBytes(payload: unknown): unknown {
  return typeof payload === "string" && payload.length > largeBytes ? Buffer.from(payload) : payload;
}
