import { describe, expect, it } from "vitest";
import { keyFromBytes, secretFromBytes } from "../../platform/auth/key-format.ts";
import { checkSlug, newSlugViolations, slugViolations } from "./slug.ts";

describe("a slug", () => {
  it.each(["a", "Z", "0", "a.b_c~d-e", "a..", "9".repeat(128)])("accepts %s", (slug) => {
    expect(slugViolations(slug)).toEqual([]);
    checkSlug(slug);
  });

  it.each(["", "-a", ".a", "_a", "~a", "a b", "a/b", "a%20", "é", "a\n", "a\0", "a+b", "a".repeat(129)])(
    "rejects %j",
    (slug) => {
      expect(slugViolations(slug)).toMatchObject([{ path: "slug" }]);
      expect(() => checkSlug(slug)).toThrow(expect.objectContaining({ kind: "invalid_argument" }));
    },
  );

  it.each([
    ["a key", keyFromBytes(Buffer.alloc(32, 1))],
    ["a session token", secretFromBytes("session", Buffer.alloc(32, 1))],
    ["a part of a key", "bot-sk-sp-v1-AAAA"],
  ])("of a new version must not contain %s, although that of a preset may", (_what, slug) => {
    expect(slugViolations(slug)).toEqual([]);
    const [violation, ...others] = newSlugViolations(slug);
    expect([violation?.path, others]).toEqual(["slug", []]);
    expect(violation?.message).toContain("choose another slug");
    expect(violation?.message).not.toContain("AAAA");
  });

  it.each(["support", "sk-sp-bot", "-"])("of a new version has no other rule: %s", (slug) => {
    expect(newSlugViolations(slug)).toEqual(slugViolations(slug));
  });
});
