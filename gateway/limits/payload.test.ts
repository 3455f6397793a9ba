import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { largeBytes, largeTextAsBytes, markShared, payloadBytes } from "./payload.ts";

const largeText = "\u20ac".repeat(largeBytes + 1);

describe("an answer", () => {
  it.each<[string, unknown, number]>([
    ["a small text, by its length", "\u20ac\u20ac", 2],
    ["a large text, by its bytes", largeText, 3 * (largeBytes + 1)],
    ["bytes", Buffer.alloc(10), 10],
    ["bytes that are in memory anyway", markShared(Buffer.alloc(10)), 0],
    ["a stream, by what is read ahead of it", Readable.from([]), 4 * 1024 * 1024],
    ["nothing", undefined, 0],
  ])("is counted: %s", (_what, payload, bytes) => {
    expect(payloadBytes(payload)).toBe(bytes);
  });

  it("is turned into bytes if it is a large text", () => {
    expect(largeTextAsBytes(largeText)).toEqual(Buffer.from(largeText));
    expect(largeTextAsBytes("small")).toBe("small");
  });
});
