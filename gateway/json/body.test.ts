import { describe, expect, it } from "vitest";
import { bodyText, requireBody } from "./body.ts";

describe("bodyText", () => {
  it.each([
    ["plain text", Buffer.from("{}"), "{}"],
    ["text beyond ASCII", Buffer.from('{"é":"🙂"}'), '{"é":"🙂"}'],
    ["a byte order mark, which is dropped", Buffer.from("\uFEFF{}"), "{}"],
    ["nothing", Buffer.alloc(0), ""],
  ])("reads %s", (_name, bytes, text) => {
    expect(bodyText(bytes, undefined)).toBe(text);
  });

  it.each(["identity", "Identity", " IDENTITY ", "", " "])("takes the content encoding %j for none", (encoding) => {
    expect(bodyText(Buffer.from("{}"), encoding)).toBe("{}");
  });

  it.each([
    ["a lone continuation byte", [0x7b, 0x80, 0x7d]],
    ["a sequence that ends early", [0x7b, 0xc3]],
    ["half of a surrogate pair", [0xed, 0xa0, 0x80]],
    ["an overlong slash", [0xc0, 0xaf]],
  ])("refuses %s instead of replacing it", (_name, bytes) => {
    expect(() => bodyText(Buffer.from(bytes), undefined)).toThrow(
      expect.objectContaining({ kind: "invalid_argument" }),
    );
  });

  it.each(["gzip", "br", "deflate", "gzip, identity", "identity, gzip", "identityx", "x identity"])(
    "refuses the content encoding %j",
    (encoding) => {
      expect(() => bodyText(Buffer.from("{}"), encoding)).toThrow(expect.objectContaining({ status: 415 }));
    },
  );
});

describe("requireBody", () => {
  it("returns a body that is there", () => {
    expect(requireBody("{}")).toBe("{}");
  });

  it.each([undefined, ""])("refuses %j", (body) => {
    expect(() => requireBody(body)).toThrow(
      expect.objectContaining({ violations: [{ path: "", message: "is empty; send a JSON object" }] }),
    );
  });
});
