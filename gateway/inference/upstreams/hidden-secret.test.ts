import { describe, expect, it } from "vitest";
import { HiddenSecret, hiddenSecrets, SecretFilter } from "./hidden-secret.ts";

function shown(secret: string, pieces: readonly string[]): string {
  return shownWithout([new HiddenSecret(secret)], pieces);
}

function shownWithout(secrets: readonly HiddenSecret[], pieces: readonly string[]): string {
  const filter = SecretFilter.of(secrets);
  const parts = pieces.map((piece) => filter?.add(Buffer.from(piece))?.toString() ?? "");
  return parts.join("") + (filter?.rest()?.toString() ?? "");
}

describe("a secret", () => {
  const text = "a:abcabd, abcabcabd abcab";

  it.each(Array.from({ length: text.length }, (_, index) => index + 1))("is masked in pieces of %i bytes", (length) => {
    const pieces = text.match(new RegExp(`.{1,${length}}`, "g")) ?? [];
    expect(shown("abcabd", pieces)).toBe("a:******, abc****** abcab");
  });

  it("that is only partial is shown as it came", () => {
    expect(shown("abcabd", ["x abcab", "x abcab"])).toBe("x abcabx abcab");
  });

  it("is found exactly as by a full search", () => {
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 48_271) % 0x7fffffff;
      return seed % below;
    };
    const letters = (length: number) => Array.from({ length }, () => "ab."[random(3)]).join("");
    for (let n = 0; n < 2_000; n += 1) {
      const secret = letters(1 + random(5));
      const text = letters(random(40));
      const pieces = text.match(new RegExp(`.{1,${1 + random(6)}}`, "g")) ?? [];
      expect([secret, shown(secret, pieces)]).toEqual([secret, text.replaceAll(secret, "*".repeat(secret.length))]);
    }
  });

  it("holds back nothing that is not its beginning", () => {
    const filter = SecretFilter.of([new HiddenSecret("abcabd")]);
    expect(filter?.add(Buffer.from("all of it"))?.toString()).toBe("all of it");
  });
});

describe("several secrets", () => {
  const secrets = hiddenSecrets(['first-"secret"\\/one', "second-secret-of-two", "short"]);
  const stars = (text: string) => "*".repeat(text.length);

  it.each([1, 2, 5, 1_000])("are masked as they are, and as JSON shows them, in pieces of %i bytes", (length) => {
    const masked = [
      'first-"secret"\\/one',
      'first-\\"secret\\"\\\\/one',
      'first-\\"secret\\"\\\\\\/one',
      "second-secret-of-two",
    ];
    const text = `short ${masked.join(" second-secret- first-")} first-\\"secr`;
    const pieces = text.match(new RegExp(`.{1,${length}}`, "g")) ?? [];
    expect(shownWithout(secrets, pieces)).toBe(
      `short ${masked.map(stars).join(" second-secret- first-")} first-\\"secr`,
    );
  });

  it("are masked as a whole if one of them contains another", () => {
    const [account, key] = ["account-of-a-client", "my-account-of-a-client-and-more"];
    const both = hiddenSecrets([account, key]);
    expect(shownWithout(both, [`${key} ${account}`])).toBe(`${stars(key)} ${stars(account)}`);
    const hidden = both.reduce((text, secret) => secret.hiddenIn(text), `${key} ${account}`);
    expect(hidden).toBe(`${stars(key)} ${stars(account)}`);
  });
});
