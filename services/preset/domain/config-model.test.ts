import { describe, expect, it } from "vitest";
import { modelOf } from "./config-model.ts";

describe("modelOf", () => {
  it.each([
    ["the only field", '{"model":"openai/gpt-4o"}', "openai/gpt-4o"],
    ["the first field", '{"model":"openai/gpt-4o","temperature":0.2}', "openai/gpt-4o"],
    ["after other fields", '{"tools":[{"model":"inner","x":{"model":"deeper"}}],"model":"outer"}', "outer"],
    ["with white space", '{ "temperature" : 1 ,\n "model" : "spaced" }', "spaced"],
    ["with escapes", String.raw`{"m\u006fdel":"a\"b\\"}`, 'a"b\\'],
    ["before a cut", '{"model":"whole","tools":[{"type":"func', "whole"],
    ["before a cut within an escape", '{"model":"whole","stop":"a\\', "whole"],
  ])("finds it: %s", (_name, text, model) => {
    expect(modelOf(text)).toBe(model);
  });

  it.each([
    ["no fields", "{}"],
    ["other fields", '{"models":["a"],"provider":{"model":"inner"}}'],
    ["a value that is not a string", '{"model":null}'],
    ["a truncated name", '{"temperature":1,"model":"openai/gp'],
    ["a name that may continue", '{"model":"openai/gpt-4"'],
    ["a truncated key", '{"temperature":1,"mod'],
    ["nothing", ""],
  ])("finds none: %s", (_name, text) => {
    expect(modelOf(text)).toBeUndefined();
  });
});
