import { describe, expect, it } from "vitest";
import { compact, indented, membersOf, objectFrom, pieceAt } from "./json-pieces.ts";

const stored = '{"model":"a","temperature":1.0,"seed":12345678901234567890,"stop":[],"tools":[{"name":"x, y: {"}]}';

describe("pieces of JSON text", () => {
  it("are cut out verbatim", () => {
    const answer = `{"data": {"version": {"config": ${stored} }}}`;
    expect(pieceAt(answer, ["data", "version", "config"])).toBe(stored);
    expect(pieceAt(answer, ["data", "nothing"])).toBe("null");
  });

  it("keep order, numbers and positions", () => {
    const members = membersOf(stored);
    expect(members.map(({ key }) => key)).toEqual(["model", "temperature", "seed", "stop", "tools"]);
    expect(members[1]?.text).toBe("1.0");
    for (const { at, text } of members) expect(stored.slice(at, at + text.length)).toBe(text);
  });

  it("are indented and compacted again without a change", () => {
    const shown = indented(stored);
    expect(shown).toContain('\n  "temperature": 1.0,\n  "seed": 12345678901234567890,\n  "stop": [],');
    expect(compact(shown)).toBe(stored);
    expect(indented(" { } ")).toBe("{}");
  });

  it("are joined to an object again", () => {
    expect(compact(objectFrom(membersOf(stored)))).toBe(stored);
    expect(objectFrom([])).toBe("{}");
  });
});
