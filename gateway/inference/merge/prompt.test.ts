import { describe, expect, it } from "vitest";
import { jsonOf, mergeInto, textOfParts } from "../../../test/support/merge.ts";
import type { DialectName } from "../../dialects/dialect-name.ts";

const chat = "chat/completions";
const prompt = "P";
const user = { role: "user", content: "hi" };

/** What goes out in a field, and where the prompt comes from. */
function spliced(dialect: DialectName, request: object, options = {}) {
  const outgoing = mergeInto(dialect, { model: "m", ...request }, { prompt }, options);
  const field = { [chat]: "messages", messages: "system", responses: "instructions" }[dialect];
  const pointer = dialect === chat ? "/messages/0" : `/${field}`;
  return [jsonOf(outgoing)[field], outgoing.provenance().fields[pointer]?.from];
}

describe("the preset's system prompt in a chat request", () => {
  const system = (content: unknown) => ({ role: "system", content });
  const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more });
  const cached = { cache_control: { type: "ephemeral" } };

  it.each([
    ["is a new first message", [user], [system("P"), user], "preset"],
    ["is the only message of an empty list", [], [system("P")], "preset"],
    ["is the only message where there is no list", undefined, [system("P")], "preset"],
    ["is the only message where the list is null", null, [system("P")], "preset"],
    ["stands ahead of the request's own", [system("own"), user], [system("P\n\nown"), user], "merged"],
    ["stands ahead of blanks", [system(" ")], [system("P\n\n ")], "merged"],
    ["takes the place of an empty text", [system(""), user], [system("P"), user], "preset"],
    ["takes the place of null", [system(null)], [system("P")], "preset"],
    [
      "takes the place of what is not there",
      [{ role: "system", name: "n" }],
      [{ role: "system", name: "n", content: "P" }],
      "preset",
    ],
    [
      "keeps a developer message one",
      [{ role: "developer", content: "own" }],
      [{ role: "developer", content: "P\n\nown" }],
      "merged",
    ],
    [
      "is put into the first part",
      [system([text("a", cached), text("b")])],
      [system([text("P\n\na", cached), text("b")])],
      "merged",
    ],
    ["is put into a part without a type", [system([{ text: "a" }])], [system([{ text: "P\n\na" }])], "merged"],
    ["is put into an empty part", [system([text("")])], [system([text("P")])], "preset"],
    [
      "is put into an empty part ahead of others",
      [system([text(""), text("b")])],
      [system([text("P"), text("b")])],
      "merged",
    ],
    ["is a part of its own where there is none", [system([])], [system([text("P")])], "preset"],
    [
      "is a part of its own ahead of what is no text",
      [system([{ type: "image" }])],
      [system([text("P"), { type: "image" }])],
      "merged",
    ],
    ["is put into the first of several", [system("a"), system("b")], [system("P\n\na"), system("b")], "merged"],
    ["is a new message ahead of one that comes later", [user, system("a")], [system("P"), user, system("a")], "preset"],
    ["is a new message ahead of what is none", ["x"], [system("P"), "x"], "preset"],
  ])("%s", (_rule, messages, expected, from) => {
    expect(spliced(chat, { messages })).toEqual([expected, from]);
  });

  it.each([
    ["messages must be a list", { a: 1 }],
    ["messages must be a list", "hi"],
    ["messages[0].content must be a string or a list", [system(1)]],
    ["messages[0].content must be a string or a list", [system({ text: "a" })]],
  ])("cannot be put anywhere: %s", (message, messages) => {
    expect(() => spliced(chat, { messages })).toThrow(message);
  });

  it("leaves the text around it as it was", () => {
    const request =
      '{"model":"m","messages" : [ { "content" : "\\u0061\\n é" , "role" : "syst\\u0065m" } , {"x":1.0} ] }';
    const { parts } = mergeInto(chat, request, { prompt: 'Say "é\u2028"\n\\' });
    expect(textOfParts(parts)).toBe(
      '{"model":"m","messages" : [ { "content" : "Say \\"é\u2028\\"\\n\\\\\\n\\n\\u0061\\n é" , "role" : "syst\\u0065m" } , {"x":1.0} ] }',
    );
  });
});

describe("the preset's system prompt in a messages request", () => {
  const block = { type: "text", text: "own", cache_control: { type: "ephemeral" } };
  it.each([
    ["is the whole where there is none", undefined, "P", "preset"],
    ["is the whole where it is null", null, "P", "preset"],
    ["is the whole where it is empty", "", "P", "preset"],
    ["stands ahead of the request's own", "own", "P\n\nown", "merged"],
    [
      "is a block ahead of the request's own, which stay as they are",
      [block],
      [{ type: "text", text: "P" }, block],
      "merged",
    ],
    ["is the only block of an empty list", [], [{ type: "text", text: "P" }], "preset"],
  ])("%s", (_rule, system, expected, from) => {
    expect(spliced("messages", { system, messages: [user] })).toEqual([expected, from]);
  });

  it.each([1, { text: "a" }, true])("cannot be put into %j", (system) => {
    expect(() => spliced("messages", { system })).toThrow("system must be a string or a list");
  });
});

describe("the preset's system prompt in a responses request", () => {
  it.each([
    ["is the whole where there is none", undefined, "P", "preset"],
    ["is the whole where it is null", null, "P", "preset"],
    ["is the whole where it is empty", "", "P", "preset"],
    ["stands ahead of the request's own", "own", "P\n\nown", "merged"],
  ])("%s", (_rule, instructions, expected, from) => {
    expect(spliced("responses", { instructions, input: "hi" })).toEqual([expected, from]);
  });

  it.each([1, ["a"], { text: "a" }])("cannot be put into %j", (instructions) => {
    expect(() => spliced("responses", { instructions })).toThrow("instructions must be a string,");
  });
});

describe("a system prompt of the request's own that is to stand alone", () => {
  const alone = { replaceSystemPrompt: true };

  it.each<[DialectName, object, unknown]>([
    [chat, { messages: [{ role: "system", content: "own" }] }, [{ role: "system", content: "own" }]],
    [
      chat,
      { messages: [{ role: "developer", content: [{ text: "own" }] }] },
      [{ role: "developer", content: [{ text: "own" }] }],
    ],
    ["messages", { system: "own" }, "own"],
    ["messages", { system: [{ type: "text", text: "own" }] }, [{ type: "text", text: "own" }]],
    ["responses", { instructions: "own" }, "own"],
    ["responses", { input: [{ role: "developer", content: "own" }] }, undefined],
  ])("does in %s: %j", (dialect, request, expected) => {
    expect(spliced(dialect, request, alone)[0]).toEqual(expected);
    const { dropped } = mergeInto(dialect, { model: "m", ...request }, { prompt }, alone).provenance();
    expect(dropped).toEqual([
      { field: "/system_prompt", from: "preset", reason: "the request's own was asked to stand alone" },
    ]);
  });

  it.each<[DialectName, object, unknown]>([
    [chat, { messages: [user] }, [{ role: "system", content: "P" }, user]],
    [chat, { messages: [{ role: "system", content: "" }] }, [{ role: "system", content: "P" }]],
    ["messages", { system: "" }, "P"],
    ["messages", { system: [] }, [{ type: "text", text: "P" }]],
    ["responses", {}, "P"],
    ["responses", { input: "hi" }, "P"],
    ["responses", { input: [user, { role: "system", content: "later" }] }, "P"],
  ])("is the preset's where the request has none, in %s: %j", (dialect, request, expected) => {
    expect(spliced(dialect, request, alone)).toEqual([expected, "preset"]);
  });
});

it.each([undefined, "", " ", "\n\t "])("is none where the preset's says nothing: %j", (nothing) => {
  const preset = nothing === undefined ? {} : { prompt: nothing };
  expect(jsonOf(mergeInto(chat, { model: "m", messages: [user] }, preset))).toEqual({ model: "m", messages: [user] });
});
