import { describe, expect, it } from "vitest";
import { joinTexts, promptOfContent, promptOfMessages } from "./system-prompt.ts";

const notText = "must be a text part: a system prompt holds only text";

describe("promptOfContent", () => {
  it.each<[string, unknown, string[]]>([
    ["nothing", undefined, []],
    ["null", null, []],
    ["a string", "Be kind.", ["Be kind."]],
    ["an empty list", [], []],
    [
      "text parts",
      [
        { type: "text", text: "a" },
        { type: "text", text: "b", cache_control: {} },
      ],
      ["a", "b"],
    ],
    [
      "parts of the responses dialect",
      [
        { type: "input_text", text: "a" },
        { type: "output_text", text: "b" },
      ],
      ["a", "b"],
    ],
    ["blocks without a type", [{ text: "a" }], ["a"]],
  ])("reads %s", (_, content, texts) => {
    expect(promptOfContent(content, "system")).toEqual({ texts, violations: [] });
  });

  it.each<[string, unknown]>([
    ["an image", { type: "image_url", image_url: { url: "data:" } }],
    ["an image with a text", { type: "image", text: "a" }],
    ["a part without text", { type: "text" }],
    ["a text that is not a string", { type: "text", text: 1 }],
    ["a bare string", "a"],
    ["null", null],
    ["a list", ["a"]],
  ])("rejects %s among the parts", (_, part) => {
    const content = [{ type: "text", text: "a" }, part];
    expect(promptOfContent(content, "system").violations).toEqual([{ path: "system[1]", message: notText }]);
  });

  it.each([1, true, { text: "a" }])("rejects %j as content", (content) => {
    expect(promptOfContent(content, "system")).toEqual({
      texts: [],
      violations: [{ path: "system", message: "must be a string or a list" }],
    });
  });

  it("reports at most a hundred bad parts", () => {
    expect(promptOfContent(Array(1000).fill(1), "system").violations).toHaveLength(100);
  });
});

describe("promptOfMessages", () => {
  it("joins system and developer messages in the order they were sent", () => {
    const messages = [
      { role: "developer", content: "one" },
      { role: "user", content: "not this" },
      {
        role: "system",
        content: [
          { type: "text", text: "two" },
          { type: "text", text: "three" },
        ],
      },
      { role: "assistant", content: [{ type: "image_url" }] },
      { role: "System", content: "nor this" },
      { role: "system", content: null },
      { role: "system" },
    ];
    expect(promptOfMessages(messages, "messages")).toEqual({ texts: ["one", "two", "three"], violations: [] });
  });

  it("names each part that is not text", () => {
    const messages = [
      { role: "user", content: [{ type: "image_url" }] },
      { role: "system", content: [{ type: "text", text: "a" }, { type: "image_url" }] },
      { role: "developer", content: 5 },
    ];
    expect(promptOfMessages(messages, "messages").violations).toEqual([
      { path: "messages[1].content[1]", message: notText },
      { path: "messages[2].content", message: "must be a string or a list" },
    ]);
  });

  it.each([undefined, null, "text", 5, {}, [], [1, null, "system", []]])("returns nothing for %j", (messages) => {
    expect(promptOfMessages(messages, "messages")).toEqual({ texts: [], violations: [] });
  });
});

describe("joinTexts", () => {
  it.each<[string[], string | undefined]>([
    [[], undefined],
    [[""], undefined],
    [["", ""], undefined],
    [["a"], "a"],
    [["a", "b"], "a\n\nb"],
    [["", "a", "", "b", ""], "a\n\nb"],
    [[" a\n", "\nb "], " a\n\n\n\nb "],
  ])("joins %j to %j", (texts, prompt) => {
    expect(joinTexts(texts)).toBe(prompt);
  });
});
