import { randomFillSync } from "node:crypto";

/** Drawn in bulk: one by one they would cost many times as much. */
const pool = Buffer.alloc(4_096);
let used = pool.length;

function draw(byteLength: number): number {
  if (used + byteLength > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += byteLength;
  return used - byteLength;
}

function randomHex(byteLength: number): string {
  const from = draw(byteLength);
  return pool.toString("hex", from, from + byteLength);
}

const spanIdBytes = 8;
const traceIdBytes = 16;
/** The end of a trace id decides whether it is recorded: as many bytes as can be read and compared at once. */
const endBytes = 6;
const endDigits = 2 * endBytes;

/** One more than the largest end of a trace id. */
export const traceEnds = 2 ** (8 * endBytes);

export function newSpanId(): string {
  return randomHex(spanIdBytes);
}

/** The end of a new trace id. Most traces are not recorded, and need no more of it. */
export function newTraceEnd(): number {
  return pool.readUIntBE(draw(endBytes), endBytes);
}

/** Through bytes: formatting such a large number directly is ten times slower. */
const endWritten = Buffer.alloc(endBytes);

export function newTraceId(end: number): string {
  endWritten.writeUIntBE(end, 0, endBytes);
  return randomHex(traceIdBytes - endBytes) + endWritten.toString("hex");
}

export function traceEndOf(traceId: string): number {
  return Number.parseInt(traceId.slice(-endDigits), 16);
}
