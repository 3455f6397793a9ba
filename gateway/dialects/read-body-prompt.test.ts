import { describe, expect, it } from "vitest";
import { violationsOf, violationsOfText } from "../../test/support/dialect-bodies.ts";
import { chatCompletions } from "./chat-completions.ts";
import type { Dialect } from "./dialect.ts";
import { messages } from "./messages.ts";
import { readBody } from "./read-body.ts";
import { responses } from "./responses.ts";

const bytesMax = 1_048_576;

describe("system prompt", () => {
  const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
  const notText = "must be a text part: a system prompt holds only text";
  const user = { role: "user", content: "hi" };

  it.each<[string, Dialect, Record<string, unknown>, string | undefined]>([
    ["chat: no system message", chatCompletions, { messages: [user] }, undefined],
    ["chat: an empty list", chatCompletions, { messages: [] }, undefined],
    ["chat: one message", chatCompletions, { messages: [{ role: "system", content: "a" }, user] }, "a"],
    [
      "chat: system and developer messages",
      chatCompletions,
      {
        messages: [
          { role: "developer", content: "a" },
          user,
          { role: "system", content: [{ type: "text", text: "b" }] },
        ],
      },
      "a\n\nb",
    ],
    [
      "chat: text parts",
      chatCompletions,
      {
        messages: [
          {
            role: "system",
            content: [
              { type: "text", text: "a" },
              { type: "text", text: "b" },
            ],
          },
        ],
      },
      "a\n\nb",
    ],
    [
      "chat: empty texts",
      chatCompletions,
      {
        messages: [
          { role: "system", content: "" },
          { role: "system", content: "a" },
          { role: "system", content: [] },
        ],
      },
      "a",
    ],
    ["chat: only an empty text", chatCompletions, { messages: [{ role: "system", content: "" }] }, undefined],
    ["chat: null content", chatCompletions, { messages: [{ role: "system", content: null }] }, undefined],
    ["chat: no content", chatCompletions, { messages: [{ role: "system" }] }, undefined],
    ["chat: an image for the user", chatCompletions, { messages: [{ role: "user", content: [image] }] }, undefined],
    ["messages: none", messages, {}, undefined],
    ["messages: null", messages, { system: null }, undefined],
    ["messages: empty", messages, { system: "" }, undefined],
    ["messages: an empty list", messages, { system: [] }, undefined],
    ["messages: a string", messages, { system: " a\n" }, " a\n"],
    [
      "messages: blocks",
      messages,
      {
        system: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      "a\n\nb",
    ],
    ["messages: a system message in the list", messages, { messages: [{ role: "system", content: "a" }] }, undefined],
    ["responses: none", responses, {}, undefined],
    ["responses: instructions", responses, { instructions: "a" }, "a"],
    [
      "responses: empty instructions",
      responses,
      { instructions: "", input: [{ role: "system", content: "b" }] },
      undefined,
    ],
    [
      "responses: instructions win",
      responses,
      { instructions: "a", input: [{ role: "system", content: [image] }] },
      "a",
    ],
    ["responses: plain input", responses, { input: "hi" }, undefined],
    ["responses: null instructions", responses, { instructions: null, input: [{ role: "system", content: "b" }] }, "b"],
    [
      "responses: items of input",
      responses,
      {
        input: [
          { type: "message", role: "system", content: [{ type: "input_text", text: "a" }] },
          { type: "function_call", name: "f", arguments: "{}" },
          { role: "developer", content: "b" },
          { type: "additional_tools", role: "developer", tools: [] },
          user,
        ],
      },
      "a\n\nb",
    ],
  ])("%s", (_, dialect, body, prompt) => {
    const least = dialect === chatCompletions ? {} : dialect === messages ? { model: "m", messages: [] } : {};
    expect(readBody(dialect, JSON.stringify({ ...least, ...body })).systemPrompt).toBe(prompt);
  });

  it.each<[string, Dialect, Record<string, unknown>, { path: string; message: string }]>([
    [
      "a chat part",
      chatCompletions,
      { messages: [{ role: "system", content: [{ type: "text", text: "a" }, image] }] },
      { path: "messages[0].content[1]", message: notText },
    ],
    [
      "a chat content",
      chatCompletions,
      { messages: [user, { role: "developer", content: 1 }] },
      { path: "messages[1].content", message: "must be a string or a list" },
    ],
    [
      "a block",
      messages,
      { model: "m", messages: [], system: [{ type: "text" }] },
      { path: "system[0]", message: notText },
    ],
    [
      "a block that is not an object",
      messages,
      { model: "m", messages: [], system: ["a"] },
      { path: "system[0]", message: "must be an object" },
    ],
    [
      "a system",
      messages,
      { model: "m", messages: [], system: 1 },
      { path: "system", message: "must be a string or a list" },
    ],
    [
      "an input part",
      responses,
      { input: [{ role: "system", content: [{ type: "input_image" }] }] },
      { path: "input[0].content[0]", message: notText },
    ],
    ["instructions", responses, { instructions: ["a"] }, { path: "instructions", message: "must be a string" }],
  ])("rejects %s that is not text, once", (_, dialect, body, violation) => {
    expect(violationsOf(dialect, body)).toEqual([violation]);
  });

  it("rejects half a surrogate pair, which UTF-8 cannot hold", () => {
    expect(violationsOfText(responses, '{"instructions":"a\\ud800"}')).toEqual([
      { path: "system_prompt", message: "must not contain an unpaired surrogate" },
    ]);
    expect(readBody(responses, '{"instructions":"\\ud83d\\ude00"}').systemPrompt).toBe("😀");
  });

  it("may be as large as the limit, and not larger", () => {
    const fill = (bytes: number) => ({ instructions: `é${"x".repeat(bytes - 2)}` });
    expect(readBody(responses, JSON.stringify(fill(bytesMax))).systemPrompt).toHaveLength(bytesMax - 1);
    expect(violationsOf(responses, fill(bytesMax + 1))).toEqual([
      { path: "system_prompt", message: "must be at most 1048576 bytes of UTF-8 in all, and is 1048577" },
    ]);
  });
});
