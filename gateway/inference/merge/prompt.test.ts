import { describe, expect, it } from "vitest";
import { jsonOf, mergeInto, textOfParts } from "../../../test/support/merge.ts";
import type { DialectName } from "../../dialects/dialect-name.ts";

const chat = "chat/completions";
const prompt = "P";
const user = { role: "user", content: "hi" };

/** The outgoing value of a field, and the source of the prompt. */
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
    ["becomes a new first message", [user], [system("P"), user], "preset"],
    ["is the only message of an empty list", [], [system("P")], "preset"],
    ["is the only message if there is no list", undefined, [system("P")], "preset"],
    ["is the only message if the list is null", null, [system("P")], "preset"],
    ["is placed before the request's own", [system("own"), user], [system("P\n\nown"), user], "merged"],
    ["is placed before blanks", [system(" ")], [system("P\n\n ")], "merged"],
    ["replaces an empty text", [system(""), user], [system("P"), user], "preset"],
    ["replaces null", [system(null)], [system("P")], "preset"],
    [
      "replaces missing content",
      [{ role: "system", name: "n" }],
      [{ role: "system", name: "n", content: "P" }],
      "preset",
    ],
    [
      "keeps a developer message a developer message",
      [{ role: "developer", content: "own" }],
      [{ role: "developer", content: "P\n\nown" }],
      "merged",
    ],
    [
      "is added to the first part",
      [system([text("a", cached), text("b")])],
      [system([text("P\n\na", cached), text("b")])],
      "merged",
    ],
    ["is added to a part without a type", [system([{ text: "a" }])], [system([{ text: "P\n\na" }])], "merged"],
    ["is added to an empty part", [system([text("")])], [system([text("P")])], "preset"],
    [
      "is added to an empty part before others",
      [system([text(""), text("b")])],
      [system([text("P"), text("b")])],
      "merged",
    ],
    ["becomes a part of its own if there is none", [system([])], [system([text("P")])], "preset"],
    [
      "becomes a part of its own before a non-text part",
      [system([{ type: "image" }])],
      [system([text("P"), { type: "image" }])],
      "merged",
    ],
    ["is added to the first of several", [system("a"), system("b")], [system("P\n\na"), system("b")], "merged"],
    [
      "becomes a new message if a system message only follows later",
      [user, system("a")],
      [system("P"), user, system("a")],
      "preset",
    ],
    ["becomes a new message before something that is not a message", ["x"], [system("P"), "x"], "preset"],
  ])("%s", (_rule, messages, expected, from) => {
    expect(spliced(chat, { messages })).toEqual([expected, from]);
  });

  it.each([
    ["messages must be a list", { a: 1 }],
    ["messages must be a list", "hi"],
    ["messages[0].content must be a string or a list", [system(1)]],
    ["messages[0].content must be a string or a list", [system({ text: "a" })]],
  ])("is rejected: %s", (message, messages) => {
    expect(() => spliced(chat, { messages })).toThrow(message);
  });

  it("leaves the surrounding text unchanged", () => {
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
    ["stands alone if there is none", undefined, "P", "preset"],
    ["stands alone if that is null", null, "P", "preset"],
    ["stands alone if that is empty", "", "P", "preset"],
    ["is placed before the request's own", "own", "P\n\nown", "merged"],
    [
      "becomes a block before the request's own, which are unchanged",
      [block],
      [{ type: "text", text: "P" }, block],
      "merged",
    ],
    ["is the only block of an empty list", [], [{ type: "text", text: "P" }], "preset"],
  ])("%s", (_rule, system, expected, from) => {
    expect(spliced("messages", { system, messages: [user] })).toEqual([expected, from]);
  });

  it.each([1, { text: "a" }, true])("cannot be added to %j", (system) => {
    expect(() => spliced("messages", { system })).toThrow("system must be a string or a list");
  });
});

describe("the preset's system prompt in a responses request", () => {
  it.each([
    ["stands alone if there is none", undefined, "P", "preset"],
    ["stands alone if that is null", null, "P", "preset"],
    ["stands alone if that is empty", "", "P", "preset"],
    ["is placed before the request's own", "own", "P\n\nown", "merged"],
  ])("%s", (_rule, instructions, expected, from) => {
    expect(spliced("responses", { instructions, input: "hi" })).toEqual([expected, from]);
  });

  it.each([1, ["a"], { text: "a" }])("cannot be added to %j", (instructions) => {
    expect(() => spliced("responses", { instructions })).toThrow("instructions must be a string,");
  });
});

describe("the system prompt with replace", () => {
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
  ])("is only the request's own in %s: %j", (dialect, request, expected) => {
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
  ])("is the preset's if the request has none, in %s: %j", (dialect, request, expected) => {
    expect(spliced(dialect, request, alone)).toEqual([expected, "preset"]);
  });
});

it.each([undefined, "", " ", "\n\t "])("adds no system prompt if the preset's is blank: %j", (nothing) => {
  const preset = nothing === undefined ? {} : { prompt: nothing };
  expect(jsonOf(mergeInto(chat, { model: "m", messages: [user] }, preset))).toEqual({ model: "m", messages: [user] });
});
