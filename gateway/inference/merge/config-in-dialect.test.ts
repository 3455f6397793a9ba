import { describe, expect, it } from "vitest";
import type { DialectName } from "../../dialects/dialect-name.ts";
import { configIn } from "./config-in-dialect.ts";

const chat = "chat/completions";

/** A config in another dialect: its fields as one object, and the pointers of dropped fields. */
function mapped(from: DialectName | null, to: DialectName, config: object | string) {
  const text = typeof config === "string" ? config : JSON.stringify(config);
  const { fields, dropped } = configIn(to, text, from);
  const json = `{${[...fields].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`;
  return { config: JSON.parse(json), dropped: dropped.map(({ field }) => field) };
}

const schema = { type: "object", properties: { a: { type: "string" } } };
const chatTool = { type: "function", function: { name: "f", description: "d", parameters: schema } };
const messagesTool = { name: "f", description: "d", input_schema: schema };
const responsesTool = { type: "function", name: "f", description: "d", parameters: schema };
const chatFormat = { type: "json_schema", json_schema: { name: "n", schema, strict: true } };
const responsesFormat = { type: "json_schema", name: "n", schema, strict: true };

describe("a config in another dialect", () => {
  it.each<[string, DialectName, DialectName, object, object, string[]]>([
    ["max_tokens", chat, "messages", { max_tokens: 1 }, { max_tokens: 1 }, []],
    ["max_completion_tokens", chat, "messages", { max_completion_tokens: 1 }, { max_tokens: 1 }, []],
    [
      "both length fields",
      chat,
      "messages",
      { max_tokens: 1, max_completion_tokens: 2 },
      { max_tokens: 2 },
      ["/max_tokens"],
    ],
    ["max_tokens", chat, "responses", { max_tokens: 1 }, { max_output_tokens: 1 }, []],
    ["max_completion_tokens", chat, "responses", { max_completion_tokens: 1 }, { max_output_tokens: 1 }, []],
    ["max_tokens", "messages", chat, { max_tokens: 1 }, { max_tokens: 1 }, []],
    ["max_tokens", "messages", "responses", { max_tokens: 1 }, { max_output_tokens: 1 }, []],
    ["max_output_tokens", "responses", chat, { max_output_tokens: 1 }, { max_completion_tokens: 1 }, []],
    ["max_output_tokens", "responses", "messages", { max_output_tokens: 1 }, { max_tokens: 1 }, []],

    [
      "an empty schema",
      chat,
      "responses",
      { response_format: { type: "json_schema", json_schema: {} } },
      { text: { format: { type: "json_schema" } } },
      [],
    ],
    [
      "a schema with its own type",
      chat,
      "responses",
      { response_format: { type: "json_schema", json_schema: { type: "x", name: "n" } } },
      { text: { format: { type: "json_schema", name: "n" } } },
      [],
    ],

    ["one stop", chat, "messages", { stop: "a" }, { stop_sequences: ["a"] }, []],
    ["a list of stops", chat, "messages", { stop: ["a", "b"] }, { stop_sequences: ["a", "b"] }, []],
    ["stop", chat, "responses", { stop: "a" }, {}, ["/stop"]],
    ["stop_sequences", "messages", chat, { stop_sequences: ["a"] }, { stop: ["a"] }, []],
    ["stop_sequences", "messages", "responses", { stop_sequences: ["a"] }, {}, ["/stop_sequences"]],

    ["reasoning_effort", chat, "responses", { reasoning_effort: "low" }, { reasoning: { effort: "low" } }, []],
    ["reasoning_effort", chat, "messages", { reasoning_effort: "low" }, {}, ["/reasoning_effort"]],
    ["reasoning", chat, "responses", { reasoning: { effort: "low" } }, { reasoning: { effort: "low" } }, []],
    [
      "both of them",
      chat,
      "responses",
      { reasoning: { a: 1 }, reasoning_effort: "low" },
      { reasoning: { a: 1 } },
      ["/reasoning_effort"],
    ],
    [
      "reasoning",
      "responses",
      chat,
      { reasoning: { effort: "low", summary: "auto" } },
      { reasoning_effort: "low" },
      ["/reasoning/summary"],
    ],
    ["reasoning without effort", "responses", chat, { reasoning: { effort: null } }, {}, []],
    ["reasoning", "responses", "messages", { reasoning: { effort: "low" } }, {}, ["/reasoning"]],

    ["response_format", chat, "responses", { response_format: chatFormat }, { text: { format: responsesFormat } }, []],
    [
      "a plain format",
      chat,
      "responses",
      { response_format: { type: "json_object" } },
      { text: { format: { type: "json_object" } } },
      [],
    ],
    ["verbosity", chat, "responses", { verbosity: "low" }, { text: { verbosity: "low" } }, []],
    [
      "both of them",
      chat,
      "responses",
      { verbosity: "low", response_format: { type: "text" } },
      { text: { format: { type: "text" }, verbosity: "low" } },
      [],
    ],
    ["a format of its own", chat, "responses", { response_format: { type: "grammar" } }, {}, ["/response_format"]],
    [
      "a format without a schema",
      chat,
      "responses",
      { response_format: { type: "json_schema" } },
      {},
      ["/response_format"],
    ],
    [
      "both of them",
      chat,
      "messages",
      { verbosity: "low", response_format: { type: "text" } },
      {},
      ["/verbosity", "/response_format"],
    ],
    ["text.format", "responses", chat, { text: { format: responsesFormat } }, { response_format: chatFormat }, []],
    [
      "text",
      "responses",
      chat,
      { text: { verbosity: "low", format: { type: "text" }, x: 1 } },
      { verbosity: "low", response_format: { type: "text" } },
      ["/text/x"],
    ],
    ["a format of its own", "responses", chat, { text: { format: { type: "grammar" } } }, {}, ["/text/format"]],
    ["text", "responses", "messages", { text: { verbosity: "low" } }, {}, ["/text"]],

    ["tools", chat, "messages", { tools: [chatTool] }, { tools: [messagesTool] }, []],
    ["tools", chat, "responses", { tools: [chatTool] }, { tools: [responsesTool] }, []],
    ["tools", "messages", chat, { tools: [messagesTool] }, { tools: [chatTool] }, []],
    ["tools", "messages", chat, { tools: [{ type: "custom", ...messagesTool }] }, { tools: [chatTool] }, []],
    ["tools", "messages", "responses", { tools: [messagesTool] }, { tools: [responsesTool] }, []],
    ["tools", "responses", chat, { tools: [responsesTool] }, { tools: [chatTool] }, []],
    ["tools", "responses", "messages", { tools: [responsesTool] }, { tools: [messagesTool] }, []],
    [
      "strict",
      chat,
      "responses",
      { tools: [{ type: "function", function: { name: "f", strict: true } }] },
      { tools: [{ type: "function", name: "f", strict: true }] },
      [],
    ],
    [
      "strict",
      chat,
      "messages",
      { tools: [{ type: "function", function: { name: "f", parameters: schema, strict: true } }] },
      { tools: [{ name: "f", input_schema: schema }] },
      ["/tools/0/function/strict"],
    ],
    [
      "no parameters",
      "responses",
      "messages",
      { tools: [{ type: "function", name: "f", parameters: null }] },
      { tools: [{ name: "f", input_schema: { type: "object", properties: {} } }] },
      [],
    ],
    [
      "extra fields of a tool",
      "messages",
      chat,
      { tools: [{ ...messagesTool, cache_control: {} }] },
      { tools: [chatTool] },
      ["/tools/0/cache_control"],
    ],
    [
      "extra fields of a tool",
      chat,
      "responses",
      { tools: [{ ...chatTool, cache_control: {} }] },
      { tools: [responsesTool] },
      ["/tools/0/cache_control"],
    ],
    [
      "a field of another dialect",
      "messages",
      chat,
      { tools: [{ name: "f", parameters: {} }] },
      { tools: [{ type: "function", function: { name: "f" } }] },
      ["/tools/0/parameters"],
    ],
    [
      "router server tools",
      chat,
      "messages",
      { tools: [{ type: "openrouter:web_search", x: 1 }] },
      { tools: [{ type: "openrouter:web_search", x: 1 }] },
      [],
    ],
    [
      "other server tools",
      "responses",
      chat,
      { tools: [{ type: "web_search" }, responsesTool] },
      { tools: [chatTool] },
      ["/tools/0"],
    ],
    ["only server tools", "messages", chat, { tools: [{ type: "bash_20250124", name: "bash" }] }, {}, ["/tools/0"]],
    [
      "a choice among server tools only",
      "responses",
      chat,
      { tools: [{ type: "web_search" }], tool_choice: "required", parallel_tool_calls: false },
      {},
      ["/tools/0", "/tool_choice", "/parallel_tool_calls"],
    ],
    [
      "a choice among the remaining tools",
      "responses",
      chat,
      { tools: [{ type: "web_search" }, responsesTool], tool_choice: "required", parallel_tool_calls: false },
      { tools: [chatTool], tool_choice: "required", parallel_tool_calls: false },
      ["/tools/0"],
    ],
    [
      "a chosen server tool",
      "messages",
      chat,
      { tools: [{ type: "bash_20250124", name: "bash" }, messagesTool], tool_choice: { type: "tool", name: "bash" } },
      { tools: [chatTool] },
      ["/tools/0", "/tool_choice"],
    ],
    ["a tool without a name", chat, "responses", { tools: [{ type: "function", function: {} }] }, {}, ["/tools/0"]],

    [
      "the remaining fields",
      chat,
      "messages",
      {
        model: "m",
        models: ["n"],
        provider: {},
        route: "r",
        plugins: [],
        service_tier: "flex",
        cache_control: {},
        temperature: 1,
        top_p: 1,
        top_k: 1,
      },
      {
        model: "m",
        models: ["n"],
        provider: {},
        route: "r",
        plugins: [],
        service_tier: "flex",
        cache_control: {},
        temperature: 1,
        top_p: 1,
        top_k: 1,
      },
      [],
    ],
    [
      "common fields",
      chat,
      "responses",
      { presence_penalty: 1, parallel_tool_calls: true },
      { presence_penalty: 1, parallel_tool_calls: true },
      [],
    ],
    ["fields of one dialect", chat, "responses", { seed: 1, logit_bias: {} }, {}, ["/seed", "/logit_bias"]],
    [
      "fields of one dialect",
      "messages",
      chat,
      { thinking: {}, speed: "fast", top_k: 1 },
      { top_k: 1 },
      ["/thinking", "/speed"],
    ],
    [
      "fields of one dialect",
      "responses",
      "messages",
      { truncation: "auto", include: [] },
      {},
      ["/truncation", "/include"],
    ],
  ])("maps %s from %s to %s: %j", (_what, from, to, config, expected, dropped) => {
    expect(mapped(from, to, config)).toEqual({ config: expected, dropped });
  });

  it.each([
    ["auto", { type: "auto" }, "auto"],
    ["none", { type: "none" }, "none"],
    ["required", { type: "any" }, "required"],
    [
      { type: "function", function: { name: "f" } },
      { type: "tool", name: "f" },
      { type: "function", name: "f" },
    ],
  ])("maps the tool choice %j between all dialects", (inChat, inMessages, inResponses) => {
    const choices = { [chat]: inChat, messages: inMessages, responses: inResponses } as const;
    const names = Object.keys(choices) as DialectName[];
    for (const [from, to] of names.flatMap((from) => names.map((to) => [from, to] as const))) {
      expect(mapped(from, to, { tool_choice: choices[from] })).toEqual({
        config: { tool_choice: choices[to] },
        dropped: [],
      });
    }
  });

  it.each<[DialectName, DialectName, unknown]>([
    [chat, "messages", "x"],
    [chat, "responses", { type: "allowed_tools", allowed_tools: {} }],
    ["responses", chat, { type: "web_search" }],
    ["messages", chat, { type: "required" }],
    ["messages", "responses", { type: "tool" }],
    ["messages", "responses", {}],
  ])("drops a tool choice without an equivalent, from %s to %s: %j", (from, to, choice) => {
    expect(mapped(from, to, { tool_choice: choice })).toEqual({ config: {}, dropped: ["/tool_choice"] });
  });

  it("reports what a tool choice loses", () => {
    expect(mapped("messages", chat, { tool_choice: { type: "auto", disable_parallel_tool_use: true } })).toEqual({
      config: { tool_choice: "auto" },
      dropped: ["/tool_choice/disable_parallel_tool_use"],
    });
  });

  it("reports why a field was dropped", () => {
    expect(configIn("messages", '{"seed":1,"max_tokens":1,"max_completion_tokens":2}', chat).dropped).toEqual([
      { field: "/max_tokens", from: "preset", reason: "max_completion_tokens takes its place" },
      { field: "/seed", from: "preset", reason: "has no equivalent in messages" },
    ]);
  });

  it("reports a very long name only in part", () => {
    const { dropped } = configIn(chat, `{"reasoning":{"${"/".repeat(1_000_000)}":1}}`, "responses");
    expect(dropped.map(({ field }) => field)).toEqual([`/reasoning/${"~1".repeat(1_024)}…`]);
  });

  it("keeps values verbatim", () => {
    const config =
      '{"max_tokens":1e2,"stop":["\\u00e9"],"temperature":1.0,"tools":[{"type":"function","function":{"name":"f","parameters":{"10":1.0,"2":12345678901234567890}}}]}';
    expect(Object.fromEntries(configIn("messages", config, chat).fields)).toEqual({
      max_tokens: "1e2",
      stop_sequences: '["\\u00e9"]',
      temperature: "1.0",
      tools: '[{"name":"f","input_schema":{"10":1.0,"2":12345678901234567890}}]',
    });
  });
});

describe("a config is used unchanged", () => {
  const config = '{"stop":"a","thinking":{},"max_output_tokens":1.0,"tools":[{"type":"x"}],"unknown":1}';
  it.each<[string, DialectName | null, DialectName]>([
    ["if its dialect is unknown", null, "messages"],
    ["in its own dialect", "responses", "responses"],
  ])("%s", (_case, from, to) => {
    const { fields, dropped } = configIn(to, config, from);
    expect([...fields]).toEqual([
      ["stop", '"a"'],
      ["thinking", "{}"],
      ["max_output_tokens", "1.0"],
      ["tools", '[{"type":"x"}]'],
      ["unknown", "1"],
    ]);
    expect(dropped).toEqual([]);
  });
});
