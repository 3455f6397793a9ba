import { describe, expect, it } from "vitest";
import { diffVersions } from "./diff-versions.ts";
import type { PresetVersion } from "./preset.ts";

function version(configJson: string, systemPrompt?: string): PresetVersion {
  return {
    id: "019a0000-0000-7000-8000-000000000001",
    presetId: "019a0000-0000-7000-8000-000000000002",
    version: 1,
    configJson,
    systemPrompt,
    dialect: undefined,
    creatorId: "user_000000000000000000000001",
    createdAt: new Date(0),
  };
}

async function configDiff(from: string, to: string) {
  return (await diffVersions(version(from), version(to))).config;
}

describe("diffVersions", () => {
  it("distinguishes added, removed and changed fields, with their stored values", async () => {
    const before = '{"model":"a","seed":1,"stop":["x"]}';
    const after = '{"model":"b","stop":["x"],"top_p":0.50}';
    expect(await configDiff(before, after)).toEqual([
      { key: "model", from: '"a"', to: '"b"' },
      { key: "seed", from: "1", to: undefined },
      { key: "top_p", from: undefined, to: "0.50" },
    ]);
  });

  it.each([
    ["two empty configs", "{}", "{}"],
    ["another order of fields", '{"model":"m","seed":1}', '{"seed":1,"model":"m"}'],
    [
      "another order of nested keys",
      '{"provider":{"a":1,"b":{"c":2,"d":3}}}',
      '{"provider":{"b":{"d":3,"c":2},"a":1}}',
    ],
    ["another spelling of a number", '{"temperature":1,"seed":100}', '{"temperature":1.0,"seed":1e2}'],
    ["another spelling of a string", '{"model":"é"}', '{"model":"\\u00e9"}'],
    ["white space", '{"stop":["a","b"]}', '{ "stop" : [ "a", "b" ] }'],
  ])("finds no difference in %s", async (_name, from, to) => {
    expect(await configDiff(from, to)).toEqual([]);
  });

  it.each([
    ["the order of a list", '{"stop":["a","b"]}', '{"stop":["b","a"]}'],
    ["a type", '{"stop":"1"}', '{"stop":["1"]}'],
    ["one value deep inside", '{"tools":[{"f":{"x":[1,{"y":2}]}}]}', '{"tools":[{"f":{"x":[1,{"y":3}]}}]}'],
    ["a nested key that is null instead of absent", '{"provider":{"a":null}}', '{"provider":{}}'],
    ["a nested key named __proto__", '{"provider":{"__proto__":{"a":1}}}', '{"provider":{}}'],
    ["the last digit of a number", '{"temperature":0.1}', '{"temperature":0.10000000000000002}'],
  ])("finds a difference in %s", async (_name, from, to) => {
    expect(await configDiff(from, to)).toHaveLength(1);
    expect(await configDiff(to, from)).toHaveLength(1);
  });

  it("returns values without their stored white space", async () => {
    expect(await configDiff("{}", '{ "stop" : [ "a b", 1.50 ] }')).toEqual([
      { key: "stop", from: undefined, to: '["a b",1.50]' },
    ]);
  });

  it.each([
    ["equal prompts", "Be brief.", "Be brief.", false],
    ["no prompts", undefined, undefined, false],
    ["a different prompt", "Be brief.", "Be brief. ", true],
    ["a new prompt", undefined, "Be brief.", true],
    ["a removed prompt", "Be brief.", undefined, true],
  ])("tells for %s whether the prompt changed", async (_name, from, to, changed) => {
    expect((await diffVersions(version("{}", from), version("{}", to))).systemPromptChanged).toBe(changed);
  });

  it("compares configs stored under larger limits", async () => {
    const config = (last: number) => `{"route":[${"0,".repeat(100_000)}${last}],"a":1,"a":2}`;
    expect((await configDiff(config(0), config(1))).map(({ key }) => key)).toEqual(["route"]);
    expect(await configDiff(config(0), config(0))).toEqual([]);
  });
});
