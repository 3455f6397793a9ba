import { chatRequestToJSON, messagesRequestToJSON, responsesRequestToJSON } from "@openrouter/sdk/models";
import { describe, expect, it } from "vitest";
import { violationsOf, violationsOfText } from "../../test/support/dialect-bodies.ts";
import { chatCompletions } from "./chat-completions.ts";
import { messages } from "./messages.ts";
import { readBody, readLongBody } from "./read-body.ts";
import { responses } from "./responses.ts";

const bytesMax = 1_048_576;

describe("config", () => {
  it("has the kept fields in the order they were sent", () => {
    const text = '{"top_p":1,"messages":[{"role":"user","content":"hi"}],"model":"m","stream":true,"temperature":0.5}';
    expect(readBody(chatCompletions, text).configJson).toBe('{"top_p":1,"model":"m","temperature":0.5}');
  });

  it("is an empty object if nothing is kept", () => {
    expect(readBody(responses, "{}")).toEqual({ configJson: "{}", systemPrompt: undefined });
  });

  it.each([
    '{"logit_bias":{"50256":-100,"15":1,"a":2,"1":3}}',
    '{"tools":[{"function":{"parameters":{"__proto__":{"a":1},"constructor":{}}}}]}',
    '{"temperature":1.0}',
    '{"temperature":-0}',
    '{"max_tokens":1e5}',
    '{"stop":"\\u000a\\/"}',
    '{"response_format":{"a":null,"b":{"x":1,"y":2}}}',
  ])("keeps %s as it was sent", (config) => {
    expect(readBody(chatCompletions, `${config.slice(0, -1)},"messages":[]}`).configJson).toBe(config);
  });

  it("drops only white space between tokens", () => {
    const text = '{ "messages" : [ ],\n  "stop" : [ " a ", "b" ] }';
    expect(readBody(chatCompletions, text).configJson).toBe('{"stop":[" a ","b"]}');
  });

  it("rejects duplicate keys, at the top and nested", () => {
    const text = '{"top_k":1,"top_k":null,"provider":{"a":1,"\\u0061":2},"text":{},"text":{}}';
    expect(violationsOfText(responses, text)).toEqual([
      { path: "provider.a", message: "must be given only once" },
      { path: "top_k", message: "must be given only once" },
      { path: "text", message: "must be given only once" },
    ]);
  });

  it("allows duplicate keys in ignored fields", () => {
    const text =
      '{"metadata":{"a":"b","a":"c"},"trace":1,"trace":{"x":1,"x":2},"input":"","input":[{"a":1,"a":2}],"top_k":1}';
    expect(readBody(responses, text).configJson).toBe('{"top_k":1}');
  });

  it("may be as large as the limit, and not larger", () => {
    const around = Buffer.byteLength('{"text":{"a":""}}');
    const fill = (bytes: number) => ({ text: { a: `é${"x".repeat(bytes - around - 2)}` } });
    expect(Buffer.byteLength(readBody(responses, JSON.stringify(fill(bytesMax))).configJson)).toBe(bytesMax);
    expect(violationsOf(responses, fill(bytesMax + 1))).toEqual([
      { path: "config", message: "must be at most 1048576 bytes of UTF-8 in all, and is 1048577" },
    ]);
  });

  it("is measured without ignored fields and white space", () => {
    const text = `{"input":"${"x".repeat(bytesMax)}",${" ".repeat(bytesMax)}"model":"m"}`;
    expect(readBody(responses, text).configJson).toBe('{"model":"m"}');
  });

  it("rejects numbers that would change in value, but only in kept fields", () => {
    const text = `{
      "messages": [{ "role": "user", "at": 9007199254740993 }],
      "trace": { "id": 1e400 },
      "seed": 9007199254740993,
      "tools": [{ "function": { "parameters": { "maximum": 1e400 } } }]
    }`;
    expect(violationsOfText(chatCompletions, text)).toEqual([
      {
        path: "seed",
        message: "must be an integer that a double holds exactly; this one would be read as 9007199254740992",
      },
      { path: "tools[0].function.parameters.maximum", message: "must be a number that fits in a double" },
    ]);
  });
});

describe("violations", () => {
  it("are reported all at once, each with its path", () => {
    const text = `{
      "messages": [{ "role": "system", "content": [{ "type": "image_url" }] }, { "content": "hi" }],
      "model": "@preset/other",
      "temperature": 3,
      "top_p": "1",
      "stop": ["a", "b", "c", "d", 5],
      "session_id": "${"x".repeat(257)}",
      "metadata": { "a": 1 },
      "seed": 9007199254740993,
      "unknown": 1e400
    }`;
    const paths = violationsOfText(chatCompletions, text).map(({ path }) => path);
    expect(paths.sort()).toEqual(
      [
        "messages[0].content[0]",
        "messages[1].role",
        "metadata.a",
        "model",
        "seed",
        "session_id",
        "stop",
        "stop[4]",
        "temperature",
        "top_p",
      ].sort(),
    );
  });

  it("are found in the first hundred elements of a list", () => {
    expect(violationsOf(chatCompletions, { messages: [], tools: Array(1000).fill(1) })).toHaveLength(100);
    expect(violationsOf(chatCompletions, { messages: [], logit_bias: { ...Array(1000).fill("x") } })).toHaveLength(100);
  });

  it("are found past the first hundred elements as well", () => {
    const tools = [...Array(1000).fill({}), 1];
    expect(violationsOf(chatCompletions, { messages: [], tools })).toEqual([
      { path: "tools[1000]", message: "must be an object" },
    ]);
  });

  it.each(["k", "é", "😀"])("of a metadata key depend on its length in characters, not bytes: %s", (character) => {
    const keyed = (length: number) => ({ messages: [], metadata: { [character.repeat(length)]: "" } });
    expect(violationsOf(chatCompletions, keyed(64))).toEqual([]);
    for (const length of [65, 1000]) {
      expect(violationsOf(chatCompletions, keyed(length))).toMatchObject([
        { message: "has a name that must have at most 64 characters" },
      ]);
    }
  });

  it.each([
    ["null", "must be a JSON object"],
    ["[]", "must be a JSON object"],
    ['"{}"', "must be a JSON object"],
    ["", "must be a JSON object"],
    ["{", "must be valid JSON; the error is at line 1, column 2"],
    [`{"a":${"[".repeat(64)}${"]".repeat(64)}}`, "must not be nested deeper than 64 levels"],
  ])("of the body %s have no path", (text, message) => {
    expect(violationsOfText(responses, text)).toEqual([{ path: "", message }]);
  });

  it("do not include the maximum nesting", () => {
    const metadata = `${"[".repeat(62)}${"]".repeat(62)}`;
    expect(readBody(responses, `{"text":{"a":${metadata}}}`).configJson).toBe(`{"text":{"a":${metadata}}}`);
  });
});

describe("a long body", () => {
  it("is read like a short one", async () => {
    const text = '{"model":"m","instructions":"Be brief.","provider":{"a":1.0}}';
    expect(await readLongBody(responses, text)).toEqual(readBody(responses, text));
    await expect(readLongBody(responses, '{"model":1}')).rejects.toThrow("model must be a string");
    await expect(readLongBody(responses, "{")).rejects.toThrow("must be valid JSON; the error is at line 1, column 2");
    const long = `{"model":"m",\n"instructions":"${"é".repeat(300_000)}",}`;
    await expect(readLongBody(responses, long)).rejects.toThrow(
      "must be valid JSON; the error is at line 2, column 300019",
    );
  });
});

describe("bodies of the public client", () => {
  it("are accepted from its chat call", () => {
    const json = chatRequestToJSON({
      messages: [
        { role: "system", content: [{ type: "text", text: "Be kind." }] },
        { role: "user", content: "hi" },
      ],
      model: "openai/gpt-4o",
      provider: null,
      temperature: null,
      maxTokens: 16,
      stop: ["a"],
      imageConfig: { aspect_ratio: "1:1", size: 2 },
      toolChoice: "auto",
      stopServerToolsWhen: [{ type: "step_count_is", stepCount: 3 }],
      serviceTier: "flex",
    });
    const { configJson, systemPrompt } = readBody(chatCompletions, json);
    expect(systemPrompt).toBe("Be kind.");
    expect(Object.keys(JSON.parse(configJson)).sort()).toEqual(
      ["image_config", "max_tokens", "model", "service_tier", "stop", "stop_server_tools_when", "tool_choice"].sort(),
    );
  });

  it("are accepted from its messages call", () => {
    const json = messagesRequestToJSON({
      model: "anthropic/claude",
      messages: null,
      maxTokens: 1024,
      system: [{ type: "text", text: "Be kind." }],
      speed: null,
      fallbacks: [{ model: "m" }],
      toolChoice: { type: "auto" },
    });
    const { configJson, systemPrompt } = readBody(messages, json);
    expect(systemPrompt).toBe("Be kind.");
    expect(JSON.parse(configJson)).toEqual({
      model: "anthropic/claude",
      max_tokens: 1024,
      fallbacks: [{ model: "m" }],
      tool_choice: { type: "auto" },
    });
  });

  it("are accepted from its responses call, without its injected tier", () => {
    const json = responsesRequestToJSON({
      model: "openai/gpt-4o",
      input: [
        { role: "developer", content: [{ type: "input_text", text: "Be kind." }] },
        { role: "user", content: "hi" },
      ],
      maxOutputTokens: 100,
      instructions: null,
    });
    expect(JSON.parse(json).service_tier).toBe("auto");
    const { configJson, systemPrompt } = readBody(responses, json);
    expect(systemPrompt).toBe("Be kind.");
    expect(JSON.parse(configJson)).toEqual({ model: "openai/gpt-4o", max_output_tokens: 100 });
  });
});
