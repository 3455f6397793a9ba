import { describe, expect, it } from "vitest";
import { modelIn } from "./answer-model.ts";

describe("the model of an answer", () => {
  it.each([
    ["a completion", '{"id":"1","choices":[{"model":"wrong"}],"model":"openai/gpt-5:free","x":{"model":"wrong"}}'],
    ["a multi-line text", '{\n  "id": "1",\n  "model" : "openai/gpt-5:free"\n}'],
    ["the chunks of a completion", 'data: {"id":"1","model":"openai/gpt-5:free","choices":[]}\n\ndata: {"id"'],
    ["a stream that begins with a comment", ': PROCESSING\n\ndata: {"model":"openai/gpt-5:free"}\n\n'],
    [
      "the start of a message",
      'event: message_start\ndata: {"type":"message_start","message":{"content":[],"model":"openai/gpt-5:free"}}',
    ],
    [
      "a created response",
      'event: response.created\ndata: {"type":"response.created","response":{"metadata":{"model":"wrong"},"model":"openai/gpt-5:free"}}',
    ],
    ["a stream whose lines end with CR", ': PROCESSING\r\rdata: {"id":"1"}\r\rdata: {"model":"openai/gpt-5:free"}\r\r'],
    ["the end of a stream", 'l":"wrong"}\n\ndata: {"model":"openai/gpt-5:free"}\n\ndata: [DONE]\n\n'],
  ])("is found in %s", (_, text) => {
    expect(modelIn(text)).toBe("openai/gpt-5:free");
  });

  it.each([
    ["it is in the generated content", '{"content":[{"type":"tool_use","input":{"model":"secret"}}]}'],
    [
      "it is quoted in the generated content",
      '{"text":"\\"model\\":\\"secret\\",\\\\","y":"{\\"model\\": \\"secret\\"}"}',
    ],
    ["only a tool of the message has one", '{"message":{"input":{"model":"secret"}}}'],
    ["it is a list", '[{"model":"secret"}]'],
    ["the text breaks off", '{"id":"1","mod'],
    ["its value breaks off", '{"id":"1","model":"op'],
    ["it is not a name", '{"model":"two words of a poem"}'],
    ["it is too long", `{"model":"${"a".repeat(201)}"}`],
    ["it contains a key", '{"model":"sk-sp-v1-secret"}'],
    ["it is a number", '{"model":1,"id":"secret"}'],
    ["the text is not JSON", "model: secret"],
    ["the text is empty", ""],
  ])("is unknown if %s", (_, text) => {
    expect(modelIn(text)).toBeUndefined();
  });
});
