import { describe, expect, it } from "vitest";
import { indented } from "../../json/json-pieces.ts";
import { isChanged } from "./is-changed.ts";

function draftOf(stored: string, change: { config?: string; prompt?: string } = {}) {
  return { base: { config: stored, prompt: null }, config: indented(stored), prompt: "", ...change };
}

const spellings = [
  ["compact, as the gateway stores it", '{"model":"a b","stop":["x","y"],"seed":1.0,"metadata":{}}'],
  ["with the spaces of Python", '{"model": "a b", "stop": ["x", "y"], "seed": 1.0, "metadata": {}}'],
  ["over several lines", '\n{\n\t"model" : "a b",\r\n\t"stop": [ "x", "y" ],\n\t"seed": 1.0,\n\t"metadata": { }\n}\n'],
] as const;

describe("a draft of a config that is stored", () => {
  it.each(spellings)("%s has not changed until it is edited", (_, stored) => {
    expect(isChanged(draftOf(stored))).toBe(false);
    expect(isChanged(draftOf(stored, { config: spellings[1][1] }))).toBe(false);
    for (const config of [
      '{"model":"ab","stop":["x","y"],"seed":1.0,"metadata":{}}',
      '{"model":"a b","stop":["x","y"],"seed":1,"metadata":{}}',
      '{"model":"a b","stop":["x","y"],"seed":1.0}',
      "{",
    ]) {
      expect(isChanged(draftOf(stored, { config }))).toBe(true);
    }
    expect(isChanged(draftOf(stored, { prompt: "Be brief." }))).toBe(true);
  });
});
