import { describe, expect, it } from "vitest";
import { mostSimilar, spellingsNear } from "./similar-slug.ts";

describe("mostSimilar", () => {
  it.each([
    ["a missing letter", "suport-bot", "support-bot"],
    ["an extra letter", "supportt-bot", "support-bot"],
    ["another letter", "suppert-bot", "support-bot"],
    ["two swapped letters", "supprot-bot", "support-bot"],
    ["upper case", "Support-Bot", "support-bot"],
    ["another separator", "support_bot", "support-bot"],
    ["a missing separator", "supportbot", "support-bot"],
    ["three typos in ten letters", "spuport-bt", "support-bot"],
    ["upper case of one letter", "A", "a"],
  ])("finds a slug despite %s", (_name, given, meant) => {
    expect(mostSimilar(given, ["billing", meant, "zebra"])).toBe(meant);
  });

  it.each([
    ["there are no slugs", "support", []],
    ["nothing is close", "support", ["billing", "suborn", "s"]],
    ["the slug is short and not the same", "ab", ["ac", "a", "abc"]],
    ["there is more than one typo in three letters", "abcdef", ["xyzdef", "abc"]],
    ["it is long with more than four typos", "a".repeat(60), [`${"a".repeat(55)}bbbbb`, "a".repeat(55)]],
  ])("finds nothing if %s", (_name, given, others) => {
    expect(mostSimilar(given, others)).toBeUndefined();
  });

  it("returns the nearest, or the first of equally near ones", () => {
    expect(mostSimilar("support", ["suppo", "supporter", "suport", "sport"])).toBe("suport");
    expect(mostSimilar("bot-a", ["bot-z", "bot-c", "bot-y"])).toBe("bot-c");
  });
});

describe("spellingsNear", () => {
  it.each(["upport", "spport", "uspport", "xupport", "xsupport", "suport", "suppotr", "sup-port", "support_"])(
    "includes %s for support",
    (spelling) => {
      expect(spellingsNear("support")).toContain(spelling);
    },
  );

  it.each(["my-bot", "my.bot", "my_bot"])("includes %s for My~Bot", (spelling) => {
    expect(spellingsNear("My~Bot")).toContain(spelling);
  });

  it("includes neither the slug itself nor an empty one, and no duplicates", () => {
    const spellings = spellingsNear("a");
    expect(spellings).not.toContain("a");
    expect(spellings).not.toContain("");
    expect(new Set(spellings).size).toBe(spellings.length);
  });

  it("is bounded, however long the slug", () => {
    expect(spellingsNear("ab".repeat(64)).length).toBeLessThan(600);
  });
});
