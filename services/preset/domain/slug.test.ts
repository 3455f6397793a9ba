import { describe, expect, it } from "vitest";
import { checkSlug, slugViolations } from "./slug.ts";

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
});
