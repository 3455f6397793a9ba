import { expect, it } from "vitest";
import { noUpstreams, unserved, unservedIn } from "./refusal-texts.ts";

it.each(["openai/gpt-5", "a in messages. b", "two\nlines", "(.+)", "x".repeat(100)])(
  "a refusal of the model %j is recognised, whatever its name",
  (model) => {
    expect(unservedIn(unserved(model, "chat/completions"))).toEqual({ model, dialect: "chat/completions" });
  },
);

it.each(["", noUpstreams, "No upstream serves the model"])("nothing else is taken for one: %j", (message) => {
  expect(unservedIn(message)).toBeUndefined();
});
