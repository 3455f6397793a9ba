import { describe, expect, it } from "vitest";
import { bodyText, requireBody } from "./body.ts";

describe("bodyText", () => {
  it.each([
    ["plain text", Buffer.from("{}"), "{}"],
    ["non-ASCII text", Buffer.from('{"é":"🙂"}'), '{"é":"🙂"}'],
    ["a byte order mark, which is dropped", Buffer.from("\uFEFF{}"), "{}"],
    ["nothing", Buffer.alloc(0), ""],
  ])("reads %s", (_name, bytes, text) => {
    expect(bodyText(bytes, undefined)).toBe(text);
  });

  it.each(["identity", "Identity", " IDENTITY ", "", " "])("treats the content encoding %j as none", (encoding) => {
    expect(bodyText(Buffer.from("{}"), encoding)).toBe("{}");
  });

  it.each([
    ["a lone continuation byte", [0x7b, 0x80, 0x7d]],
    ["a truncated sequence", [0x7b, 0xc3]],
    ["half a surrogate pair", [0xed, 0xa0, 0x80]],
    ["an overlong slash", [0xc0, 0xaf]],
  ])("rejects %s instead of replacing it", (_name, bytes) => {
    expect(() => bodyText(Buffer.from(bytes), undefined)).toThrow(
      expect.objectContaining({ kind: "invalid_argument" }),
    );
  });

  it.each(["gzip", "br", "deflate", "gzip, identity", "identity, gzip", "identityx", "x identity"])(
    "rejects the content encoding %j",
    (encoding) => {
      expect(() => bodyText(Buffer.from("{}"), encoding)).toThrow(expect.objectContaining({ status: 415 }));
    },
  );
});

describe("requireBody", () => {
  it("returns an existing body", () => {
    expect(requireBody("{}")).toBe("{}");
  });

  it.each([undefined, ""])("rejects %j", (body) => {
    expect(() => requireBody(body)).toThrow(
      expect.objectContaining({ violations: [{ path: "", message: "is empty; send a JSON object" }] }),
    );
  });
});
