import { describe, expect, it } from "vitest";
import { type DiffRow, diffLines } from "./line-diff.ts";

function written({ from, to, isChanged }: DiffRow): string {
  const text = (side: DiffRow["from"]) =>
    side?.runs.map((run) => (run.isChanged ? `[${run.text}]` : run.text)).join("") ?? "";
  return isChanged ? `${from ? `-${text(from)}` : ""}${to ? `+${text(to)}` : ""}` : ` ${text(from)}`;
}

function diff(from: string | undefined, to: string | undefined): string[] {
  return diffLines(from, to, 2_000).rows.map(written);
}

describe("the line diff of two texts", () => {
  it("marks the changed words of a changed line", () => {
    expect(diff("one\nBe brief.\nthree", "one\nBe very brief.\nthree")).toEqual([
      " one",
      "-Be brief.+Be [very ]brief.",
      " three",
    ]);
  });

  it("marks adjacent replaced words as one piece", () => {
    expect(diff("Answer in three short sentences, please.", "Answer in a numbered list, please.")).toEqual([
      "-Answer in [three short sentences], please.+Answer in [a numbered list], please.",
    ]);
  });

  it.each([
    ["Be\u200b brief.", "Be brief.", "-Be[⟨U+200B⟩] brief.+Be brief."],
    ["\ufeffBe brief.", "Be brief.", "-[⟨U+FEFF⟩]Be brief.+Be brief."],
    ["Be\u00a0brief.", "Be brief.", "-Be[⟨U+00A0⟩]brief.+Be[ ]brief."],
    ["Cafe\u0301 tips", "Caf\u00e9 tips", "-Cafe⟨U+0301⟩ tips+Café tips"],
    ["so\u00adlong", "solong", "-so⟨U+00AD⟩long+solong"],
    ["", "\u200b", "+⟨U+200B⟩"],
    ["Be brief, \u200bplease.", "Be kind, please.", "-Be [brief], [⟨U+200B⟩]please.+Be [kind], please."],
    // What can be seen anyway stays as it is.
    ["Say 👨\u200d👩 twice.", "Say 👨\u200d👩 once.", "-Say 👨\u200d👩 [twice].+Say 👨\u200d👩 [once]."],
    ["Be\tbrief.", "Be brief.", "-Be[\t]brief.+Be[ ]brief."],
  ])("names what differs but cannot be seen: %j and %j", (from, to, row) => expect(diff(from, to)).toEqual([row]));

  it("shows unrelated lines as one removed and one added", () => {
    expect(diff("alpha beta", "gamma delta")).toEqual(["-alpha beta+gamma delta"]);
  });

  it("shows lines that only one text has", () => {
    expect(diff("a\nb", "a\nx\nb")).toEqual([" a", "+x", " b"]);
    expect(diff("a\nx\nb", "a\nb")).toEqual([" a", "-x", " b"]);
  });

  it("accepts a missing text", () => {
    expect(diff(undefined, "a")).toEqual(["+a"]);
    expect(diff("a", undefined)).toEqual(["-a"]);
    expect(diff("", undefined)).toEqual([]);
  });

  it("keeps line numbers", () => {
    const { rows } = diffLines("a\nx\nb", "a\nb", 2_000);
    expect(rows.map(({ from, to }) => [from?.line, to?.line])).toEqual([
      [1, 1],
      [2, undefined],
      [3, 2],
    ]);
  });

  it("falls back to a coarse diff if time runs out", () => {
    const from = Array.from({ length: 20_000 }, (_, line) => `from ${line}`).join("\n");
    const to = Array.from({ length: 20_000 }, (_, line) => `to ${line}`).join("\n");
    const { rows, isCoarse } = diffLines(`same\n${from}`, `same\n${to}`, 50);
    expect(isCoarse).toBe(true);
    expect(rows).toHaveLength(20_001);
    expect(rows[0]?.isChanged).toBe(false);
  });

  it("does not show lines as changed that both texts have at the same place, even if time runs out", () => {
    const from = Array.from({ length: 20_000 }, (_, line) => `line ${line}`);
    const to = from.map((line, index) => (index % 3 === 0 ? `${line}, changed` : line));
    const { rows, isCoarse } = diffLines(from.join("\n"), [...to, "one more"].join("\n"), 0);
    expect(isCoarse).toBe(true);
    expect(rows.slice(0, 3).map(({ isChanged }) => isChanged)).toEqual([true, false, false]);
    expect(rows.filter(({ isChanged }) => isChanged)).toHaveLength(6_668);
    expect(rows.at(-1)).toMatchObject({ to: { line: 20_001 } });
  });
});
