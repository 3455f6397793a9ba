import { describe, expect, it } from "vitest";
import { FrameReader } from "./frame-reader.ts";
import { frame } from "./frames.ts";
import { type ConnectionError, errorCodes, frameBytesMax } from "./protocol.ts";

type Frame = readonly [type: number, flags: number, streamId: number, payload: string];

const frames: readonly Frame[] = [
  [0, 1, 1, "data"],
  [4, 0, 0, ""],
  [9, 255, 2 ** 31 - 1, "the last stream"],
  [250, 0, 3, "x".repeat(300)],
  [6, 1, 0, "12345678"],
];
const bytes = Buffer.concat(frames.map(([type, bits, id, payload]) => frame(type, bits, id, Buffer.from(payload))));

function read(...chunks: Buffer[]): Frame[] {
  const found: Frame[] = [];
  const reader = new FrameReader((type, bits, id, payload) => found.push([type, bits, id, payload.toString()]));
  for (const chunk of chunks) reader.read(chunk);
  return found;
}

describe("frames", () => {
  it("are found if they arrive at once", () => {
    expect(read(bytes)).toEqual(frames);
  });

  it("are found wherever they are split", () => {
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(read(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(frames);
    }
  });

  it("are found in pieces of any length, down to a byte", () => {
    for (let length = 1; length < 40; length += 1) {
      const chunks = [];
      for (let start = 0; start < bytes.length; start += length) chunks.push(bytes.subarray(start, start + length));
      expect(read(...chunks)).toEqual(frames);
    }
  });

  it("may have the maximum size", () => {
    const payload = "a".repeat(frameBytesMax);
    expect(read(frame(0, 0, 1, Buffer.from(payload)))).toEqual([[0, 0, 1, payload]]);
  });

  it.each([1, 3, 9, 100])("that are too large are rejected by their header, read %i bytes at a time", (length) => {
    const large = frame(0, 0, 1, Buffer.alloc(frameBytesMax + 1));
    const chunks = [];
    for (let start = 0; start < 100; start += length) chunks.push(large.subarray(start, start + length));
    let code: number | undefined;
    try {
      read(...chunks);
    } catch (error) {
      ({ code } = error as ConnectionError);
    }
    expect(code).toBe(errorCodes.frameSize);
  });

  it("do not change when the next ones arrive", () => {
    const payloads: Buffer[] = [];
    const reader = new FrameReader((_type, _bits, _id, payload) => payloads.push(payload));
    for (const byte of bytes) reader.read(Buffer.from([byte]));
    expect(payloads.map(String)).toEqual(frames.map(([, , , payload]) => payload));
  });
});
