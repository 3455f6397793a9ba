import { expect, it } from "vitest";
import { noUpstreams, unserved, unservedIn } from "./refusal-texts.ts";

it.each(["openai/gpt-5", "a in messages. b", "two\nlines", "(.+)", "x".repeat(100)])(
  "a refusal of the model %j is recognised, whatever its name",
  (model) => {
    const parts = { model, dialect: "chat/completions" };
    expect(unservedIn(unserved(model, "chat/completions", []))).toEqual(parts);
    expect(unservedIn(unserved(model, "chat/completions", ["messages", "responses"]))).toEqual(parts);
  },
);

it.each(["", noUpstreams, "No upstream serves the model"])("nothing else is taken for one: %j", (message) => {
  expect(unservedIn(message)).toBeUndefined();
});
