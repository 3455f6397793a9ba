import { describe, expect, it } from "vitest";
import { merge, promptKey } from "./merge.ts";

const ancestor = { config: '{"model":"a","temperature":1.0,"top_p":0.5}', prompt: "Be brief." };

function settled(
  mine: Partial<typeof ancestor>,
  theirs: Partial<typeof ancestor>,
  choices: [string, "mine" | "theirs"][] = [],
) {
  const merged = merge(ancestor, { ...ancestor, ...mine }, { ...ancestor, ...theirs });
  const { config, prompt } = merged.settle(new Map(choices));
  return { ...merged, config: config.replaceAll(/\s/g, ""), prompt };
}

describe("two changes of one version", () => {
  it("are merged without asking if they touch different fields", () => {
    const mine = { config: '{"model":"a","temperature":0.2,"top_p":0.5}' };
    const theirs = { config: '{"model":"a","temperature":1.0,"top_p":0.5,"seed":7}', prompt: "Be kind." };
    expect(settled(mine, theirs)).toMatchObject({
      taken: [promptKey, "seed"],
      conflicts: [],
      config: '{"model":"a","temperature":0.2,"top_p":0.5,"seed":7}',
      prompt: "Be kind.",
    });
  });

  it("need a choice if they change one field differently", () => {
    const mine = { config: '{"model":"b","temperature":1.0,"top_p":0.5}' };
    const theirs = { config: '{"model":"c","temperature":1.0,"top_p":0.5}' };
    expect(settled(mine, theirs).conflicts).toEqual([{ key: "model", mine: '"b"', theirs: '"c"' }]);
    expect(settled(mine, theirs).config).toContain('"model":"b"');
    expect(settled(mine, theirs, [["model", "theirs"]]).config).toContain('"model":"c"');
  });

  it("of the prompt are merged if that is possible, and need a choice otherwise", () => {
    const mine = { ...ancestor, prompt: "Be brief and kind." };
    const theirs = { ...ancestor, prompt: "Be very brief." };
    const merged = merge(ancestor, mine, theirs, () => "Be very brief and kind.");
    expect(merged).toMatchObject({ taken: [], conflicts: [] });
    expect(merged.settle(new Map()).prompt).toBe("Be very brief and kind.");
    const apart = merge(ancestor, mine, theirs, () => undefined);
    expect(apart.conflicts).toEqual([{ key: promptKey, mine: mine.prompt, theirs: theirs.prompt }]);
  });

  it("agree if both made the same change, whatever the spacing", () => {
    const mine = { config: '{"model":"a","stop":["x", "y"]}' };
    const theirs = { config: '{"model":"a","stop":["x","y"]}' };
    expect(settled(mine, theirs)).toMatchObject({ taken: [], conflicts: [] });
  });

  it("include removed fields", () => {
    const theirs = { config: '{"model":"a","temperature":1.0}' };
    expect(settled({}, theirs)).toMatchObject({ taken: ["top_p"], config: '{"model":"a","temperature":1.0}' });
  });

  it("keep a number as it is written", () => {
    expect(settled({}, { prompt: "Be kind." }).config).toContain("1.0");
  });
});
