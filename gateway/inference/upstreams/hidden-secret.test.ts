import { describe, expect, it } from "vitest";
import { HiddenSecret } from "./hidden-secret.ts";

function shown(secret: string, pieces: readonly string[]): string {
  const hidden = new HiddenSecret(secret);
  const parts = pieces.map((piece) => hidden.add(Buffer.from(piece))?.toString() ?? "");
  return parts.join("") + (hidden.rest()?.toString() ?? "");
}

describe("a secret", () => {
  const text = "a:abcabd, abcabcabd abcab";

  it.each(Array.from({ length: text.length }, (_, index) => index + 1))("is hidden in pieces of %i bytes", (length) => {
    const pieces = text.match(new RegExp(`.{1,${length}}`, "g")) ?? [];
    expect(shown("abcabd", pieces)).toBe("a:******, abc****** abcab");
  });

  it("that was only begun is shown as it came", () => {
    expect(shown("abcabd", ["x abcab", "x abcab"])).toBe("x abcabx abcab");
  });

  it("keeps nothing back that it does not begin with", () => {
    expect(new HiddenSecret("abcabd").add(Buffer.from("all of it"))?.toString()).toBe("all of it");
  });
});
