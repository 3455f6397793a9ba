import { describe, expect, it } from "vitest";
import { mergeLines } from "./merge-lines.ts";

const ancestor = "one\ntwo\nthree\nfour\nfive";

describe("two changes of one text", () => {
  it.each([
    ["changed lines", "ONE\ntwo\nthree\nfour\nfive", "one\ntwo\nthree\nfour\nFIVE", "ONE\ntwo\nthree\nfour\nFIVE"],
    ["added lines", "zero\none\ntwo\nthree\nfour\nfive", `${ancestor}\nsix`, `zero\n${ancestor}\nsix`],
    ["removed lines", "two\nthree\nfour\nfive", "one\ntwo\nthree\nfive", "two\nthree\nfive"],
    [
      "the same change twice",
      "one\nTWO\nthree\nfour\nfive",
      "one\nTWO\nthree\nfour\nFIVE",
      "one\nTWO\nthree\nfour\nFIVE",
    ],
    ["lines that are repeated", `${ancestor}\none`, "ONE\ntwo\nthree\nfour\nfive", "ONE\ntwo\nthree\nfour\nfive\none"],
  ])("keep both: %s", (_what, mine, theirs, merged) => {
    expect(mergeLines(ancestor, mine, theirs)).toBe(merged);
    expect(mergeLines(ancestor, theirs, mine)).toBe(merged);
  });

  it.each([
    ["the same line", "one\nTWO\nthree\nfour\nfive", "one\n2\nthree\nfour\nfive"],
    ["lines next to each other", "one\nTWO\nthree\nfour\nfive", "one\ntwo\n3\nfour\nfive"],
    ["lines added at one place", `${ancestor}\nsix`, `${ancestor}\n6`],
    ["a line that the other removed", "one\nTWO\nthree\nfour\nfive", "one\nthree\nfour\nfive"],
    ["a line that one emptied and the other removed", "one\n\nthree\nfour\nfive", "one\nthree\nfour\nfive"],
    ["everything", "another", "ONE\ntwo\nthree\nfour\nfive"],
  ])("cannot be told apart in %s", (_what, mine, theirs) => {
    expect(mergeLines(ancestor, mine, theirs)).toBeUndefined();
    expect(mergeLines(ancestor, theirs, mine)).toBeUndefined();
  });

  it("give up in time if the texts are long and have nothing in common", () => {
    const text = (word: string): string => Array.from({ length: 100_000 }, (_, line) => `${word} ${line}`).join("\n");
    const start = performance.now();
    expect(mergeLines(text("a"), text("b"), text("c"))).toBeUndefined();
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});
