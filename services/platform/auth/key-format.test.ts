import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isKey, keyFromBytes, secretFromBytes } from "./key-format.ts";

const key = keyFromBytes(Buffer.alloc(32, 7));

describe("the format of a key", () => {
  it("never changes, because users hold keys", () => {
    expect(key).toBe("sk-sp-v1-BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc3IwQOp");
  });

  it("applies to every new key", () => {
    for (let count = 0; count < 1_000; count += 1) {
      const made = keyFromBytes(randomBytes(32));
      expect(made).toMatch(/^sk-sp-v1-[A-Za-z0-9_-]{43}[A-Za-z0-9]{6}$/);
      expect(isKey(made)).toBe(true);
    }
  });

  it("detects any single wrong character", () => {
    for (let index = 0; index < key.length; index += 1) {
      const wrong = key[index] === "x" ? "y" : "x";
      expect(isKey(key.slice(0, index) + wrong + key.slice(index + 1)), `character ${index}`).toBe(false);
    }
  });

  it.each([
    ["an empty text", ""],
    ["the prefix alone", "sk-sp-v1-"],
    ["a truncated key", key.slice(0, -1)],
    ["a key followed by something", `${key} `],
    ["a key followed by a line break", `${key}\n`],
    ["a key of another kind", "sk-or-v1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"],
    ["a session token", secretFromBytes("session", Buffer.alloc(32, 7))],
    ["a longer key with its checksum", keyFromBytes(Buffer.alloc(33, 7))],
    ["a key with two characters swapped", key.replace("v1-Bw", "v1-wB")],
  ])("rejects %s", (_name, text) => {
    expect(isKey(text)).toBe(false);
  });
});
