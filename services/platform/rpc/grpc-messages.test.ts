import { describe, expect, it } from "vitest";
import { grpcFrame } from "../../../test/support/grpc-frame.ts";
import { MessageReader } from "./grpc-messages.ts";

function read(chunks: Iterable<Buffer>, bytesMax = 1_000) {
  const seen: string[] = [];
  const reader = new MessageReader(bytesMax, {
    onMessage: (bytes, isCompressed) => seen.push(`${bytes}${isCompressed ? " (compressed)" : ""}`),
    onTooLarge: () => seen.push("too large"),
  });
  for (const chunk of chunks) reader.read(chunk);
  return { seen, isInside: reader.isInside };
}

const messages = ["", "a", "", "one after the other", "\u00fc".repeat(200)];
const frames = Buffer.concat(messages.map((message) => grpcFrame(Buffer.from(message))));

describe("messages", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 64, 1_000])("are assembled from pieces of %d bytes", (size) => {
    const pieces = function* () {
      for (let at = 0; at < frames.length; at += size) yield frames.subarray(at, at + size);
    };
    expect(read(pieces())).toEqual({ seen: messages, isInside: false });
  });

  it("do not change while the next ones are read", () => {
    const kept: Buffer[] = [];
    const reader = new MessageReader(1_000, { onMessage: (bytes) => kept.push(bytes), onTooLarge: () => {} });
    for (const byte of frames) reader.read(Buffer.from([byte]));
    expect(kept.map(String)).toEqual(messages);
  });

  it("are reported incomplete in the middle", () => {
    expect(read([frames, grpcFrame(Buffer.from("half")).subarray(0, 7)])).toEqual({ seen: messages, isInside: true });
  });

  it("are marked if compressed", () => {
    const compressed = grpcFrame(Buffer.from("x"));
    compressed[0] = 1;
    expect(read([compressed]).seen).toEqual(["x (compressed)"]);
  });

  it("are rejected by their announced size", () => {
    expect(read([grpcFrame(Buffer.alloc(11)).subarray(0, 5)], 10).seen).toEqual(["too large"]);
    expect(read([grpcFrame(Buffer.from("0123456789"))], 10).seen).toEqual(["0123456789"]);
  });

  it("may arrive in a million pieces", () => {
    const bytes = grpcFrame(Buffer.alloc(1_000_000, "a"));
    const pieces = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    expect(read(pieces, 1_000_000).seen[0]).toHaveLength(1_000_000);
  });
});
