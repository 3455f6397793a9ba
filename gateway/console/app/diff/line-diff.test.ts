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
});
