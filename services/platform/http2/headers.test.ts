import { describe, expect, it } from "vitest";
import { heapBytes } from "../../../test/support/garbage.ts";
import { HeaderDecoder, headerListBytesMax } from "./header-decoder.ts";
import { encodeHeaders } from "./header-encoder.ts";
import { staticTable } from "./header-table.ts";
import { ConnectionError, errorCodes } from "./protocol.ts";

type Pairs = readonly (readonly [string, string])[];

function decode(decoder: HeaderDecoder, hex: string): Pairs {
  const fields = decoder.decode(Buffer.from(hex.replaceAll(" ", ""), "hex")) ?? [];
  return fields.map(({ name, value }) => [name, value]);
}

function codeOf(run: () => unknown): number | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof ConnectionError) return error.code;
    throw error;
  }
}

const request: Pairs = [
  [":method", "GET"],
  [":scheme", "http"],
  [":path", "/"],
  [":authority", "www.example.com"],
];
const secondRequest: Pairs = [...request, ["cache-control", "no-cache"]];
const thirdRequest: Pairs = [
  [":method", "GET"],
  [":scheme", "https"],
  [":path", "/index.html"],
  [":authority", "www.example.com"],
  ["custom-key", "custom-value"],
];

describe("header blocks of the RFC 7541 examples", () => {
  it.each<[string, string[]]>([
    [
      "C.3, plain",
      [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
      ],
    ],
    [
      "C.4, with Huffman coding",
      [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
      ],
    ],
  ])("%s", (_, [first = "", second = "", third = ""]) => {
    const decoder = new HeaderDecoder();
    expect(decode(decoder, first)).toEqual(request);
    expect(decode(decoder, second)).toEqual(secondRequest);
    expect(decode(decoder, third)).toEqual(thirdRequest);
  });

  it("C.6, with evictions from a small table", () => {
    const decoder = new HeaderDecoder();
    const first =
      "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3";
    const date = ["date", "Mon, 21 Oct 2013 20:13:21 GMT"] as const;
    const location = ["location", "https://www.example.com"] as const;
    // A resize to 256 bytes first.
    expect(decode(decoder, `3fe101 ${first}`)).toEqual([
      [":status", "302"],
      ["cache-control", "private"],
      date,
      location,
    ]);
    expect(decode(decoder, "4883 640e ffc1 c0bf")).toEqual([
      [":status", "307"],
      ["cache-control", "private"],
      date,
      location,
    ]);
    expect(
      decode(
        decoder,
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
      ),
    ).toEqual([
      [":status", "200"],
      ["cache-control", "private"],
      ["date", "Mon, 21 Oct 2013 20:13:22 GMT"],
      location,
      ["content-encoding", "gzip"],
      ["set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"],
    ]);
  });
});

describe("a header block", () => {
  it("is decoded as encoded: every static field, byte and length", () => {
    const all = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join("");
    const pairs = [
      ...staticTable.flatMap(({ name, value }) => [name, value]),
      ...["x-all", all],
      ...[0, 1, 126, 127, 128, 254, 255, 256, 16_383, 16_384, 20_000].flatMap((length) => ["x", "v".repeat(length)]),
    ];
    const read = new HeaderDecoder().decode(encodeHeaders(pairs))?.flatMap(({ name, value }) => [name, value]);
    expect(read).toEqual(pairs);
  });

  it("leaves nothing in the peer's table", () => {
    const block = encodeHeaders(["authorization", "Bearer secret"]);
    const decoder = new HeaderDecoder();
    decoder.decode(block);
    expect(codeOf(() => decode(decoder, "be"))).toBe(errorCodes.compression);
  });

  it("that is truncated is rejected or shorter, wherever it is cut", () => {
    const block = Buffer.from("828684418cf1e3c2e5f23a6ba0ab90f4ff", "hex");
    for (let length = 0; length < block.length; length += 1) {
      const cut = block.subarray(0, length);
      const code = codeOf(() => expect(new HeaderDecoder().decode(cut)?.length).toBeLessThan(4));
      expect([undefined, errorCodes.compression]).toContain(code);
    }
  });

  it.each([
    ["with index 0", "80"],
    ["with an unknown index", "be"],
    ["with an endless integer", "ff ffff ffff ffff ff"],
    ["with an integer that is too large", "ff 8080 8080 8001"],
    ["with a string longer than the block", "40 05 6162"],
    ["that makes the table too large", "3fe2 1f"],
    ["that resizes the table in the middle", "82 20"],
    ["with an end-of-string symbol in a string", "40 84 ffff ffff 0161"],
    ["with a string padded with zeros", "40 81 18 0161"],
    ["with a string padded with more than seven ones", "40 82 1fff 0161"],
  ])("%s ends the connection", (_, hex) => {
    expect(codeOf(() => decode(new HeaderDecoder(), hex))).toBe(errorCodes.compression);
  });

  it("that repeats one large field too often is too large, and the next one is decoded", () => {
    const decoder = new HeaderDecoder();
    const value = Buffer.alloc(4_000, 0x61);
    decoder.decode(Buffer.concat([Buffer.from([0x40, 1, 0x78, 0x7f, 0xa1, 0x1e]), value]));
    const times = Math.ceil(headerListBytesMax / value.length);
    expect(decoder.decode(Buffer.alloc(times - 2, 0xbe))).toHaveLength(times - 2);
    expect(decoder.decode(Buffer.alloc(times, 0xbe))).toBeUndefined();
    expect(decoder.decode(Buffer.alloc(1, 0xbe))).toHaveLength(1);
  });

  it("of random bytes is rejected with a compression error", () => {
    let seed = 1;
    const next = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed;
    };
    for (let count = 0; count < 20_000; count += 1) {
      const noise = Buffer.from(Array.from({ length: next() % 60 }, () => next() & 0xff));
      const code = codeOf(() => new HeaderDecoder().decode(noise));
      expect([undefined, errorCodes.compression]).toContain(code);
    }
  });
});

describe("fields that were dropped from the table", () => {
  it("leave nothing in memory, even if they are larger than the table", () => {
    // A new field x, to be kept, of 4,127 bytes.
    const block = Buffer.concat([Buffer.from([0x40, 1, 0x78, 0x7f, 0xa0, 0x1f]), Buffer.alloc(4_127, "1")]);
    const before = heapBytes();
    const decoders = Array.from({ length: 100 }, () => new HeaderDecoder());
    for (const decoder of decoders) for (let count = 0; count < 60; count += 1) decoder.decode(block);
    expect(heapBytes() - before).toBeLessThan(10_000_000);
    expect(decoders).toHaveLength(100);
  });

  it("leave nothing in memory, however many there were", () => {
    const block = Buffer.concat(Array<Buffer>(1_000).fill(Buffer.from([0x40, 1, 0x78, 1, 0x31])));
    const decoder = new HeaderDecoder();
    decoder.decode(block);
    const before = heapBytes();
    for (let count = 0; count < 2_000; count += 1) decoder.decode(block);
    expect(heapBytes() - before).toBeLessThan(5_000_000);
    expect(decode(decoder, "be")).toEqual([["x", "1"]]);
  });
});
