import { describe, expect, it } from "vitest";
import { mergeInto, textOfParts } from "../../../test/support/merge.ts";
import type { DialectName } from "../../dialects/dialect-name.ts";

/** The outgoing tools, and the source of each. */
function merged(presetTools: unknown, tools: unknown, dialect: DialectName = "chat/completions") {
  const outgoing = mergeInto(dialect, { model: "m", tools }, { config: { tools: presetTools } });
  const { fields, dropped } = outgoing.provenance();
  const origins = Object.entries(fields).flatMap(([pointer, origin]) => (pointer.startsWith("/tools") ? [origin] : []));
  return { tools: JSON.parse(textOfParts(outgoing.parts)).tools, origins, dropped };
}

const preset = { from: "preset" };
const request = { from: "request" };
const replaced = { from: "request", overrides: "preset" };
const fn = (name: string, more: object = {}) => ({ type: "function", function: { name, ...more } });

describe("merged tools", () => {
  it("are the preset's in order, replaced in place by the request's, followed by new ones", () => {
    const own = [fn("new"), fn("b", { strict: true }), { type: "openrouter:web_search", x: 1 }];
    expect(merged([fn("a"), fn("b"), { type: "openrouter:web_search" }, fn("c")], own)).toEqual({
      tools: [fn("a"), fn("b", { strict: true }), { type: "openrouter:web_search", x: 1 }, fn("c"), fn("new")],
      origins: [preset, replaced, replaced, preset, request],
      dropped: [],
    });
  });

  it.each([
    ["not sent", undefined],
    ["null", null],
    ["empty", []],
  ])("are the preset's if the request's are %s", (_case, tools) => {
    expect(merged([fn("a"), fn("b")], tools)).toMatchObject({ tools: [fn("a"), fn("b")], origins: [preset, preset] });
  });

  it.each([[undefined], [null], [[]]])("are the request's if the preset's are %j", (presetTools) => {
    expect(merged(presetTools, [fn("a"), 1])).toMatchObject({ tools: [fn("a"), 1], origins: [request, request] });
  });

  it("are sent verbatim", () => {
    const outgoing = mergeInto(
      "chat/completions",
      '{"tools": [ {"type":"function" , "function":{"name":"\\u0061","x":1.0}} , {"type":"b"} ] , "model":"m"}',
      { config: '{"tools":[{"type":"c","y":2.00},{"type":"function","function":{"name":"a"}}]}' },
    );
    expect(textOfParts(outgoing.parts)).toBe(
      '{"tools": [{"type":"c","y":2.00},{"type":"function" , "function":{"name":"\\u0061","x":1.0}},{"type":"b"}] , "model":"m"}',
    );
  });
});

describe("a tool replaces another", () => {
  const responsesFn = (name: string, more: object = {}) => ({ type: "function", name, ...more });
  it.each<[string, DialectName, object, object]>([
    ["if a function has its name", "chat/completions", fn("a"), fn("a", { x: 1 })],
    ["if a responses function has its name", "responses", responsesFn("a"), responsesFn("a", { x: 1 })],
    ["if a messages tool has its name", "messages", { name: "a" }, { name: "a", type: "custom" }],
    ["if a custom chat tool has its name", "chat/completions", custom("a"), custom("a", { x: 1 })],
    ["if a server tool has its type", "messages", { type: "web_20", name: "x" }, { type: "web_20", name: "y" }],
    ["if an advisor has its name", "chat/completions", advisor("a"), { ...advisor("a"), x: 1 }],
    ["if neither advisor has a name", "chat/completions", advisor(), { ...advisor(), x: 1 }],
  ])("%s", (_rule, dialect, theirs, own) => {
    expect(merged([theirs], [own], dialect)).toMatchObject({ tools: [own], origins: [replaced] });
  });

  it.each<[string, object | number, object | number]>([
    ["another name", fn("a"), fn("A")],
    ["another advisor name", advisor("a"), advisor("b")],
    ["another subagent name", subagent("a"), subagent("b")],
    ["another type with the same name", advisor("a"), subagent("a")],
    ["another type", { type: "a" }, { type: "b" }],
    ["a type equal to the name of a function", fn("a"), { type: "a" }],
    ["no name", { type: "function" }, { type: "function" }],
    ["an invalid name", fn(1 as never), fn(1 as never)],
    ["a value that is not an object", 1, 1],
  ])("but not with %s", (_case, theirs, own) => {
    expect(merged([theirs], [own])).toMatchObject({ tools: [theirs, own], origins: [preset, request] });
  });
});

function custom(name: string, more: object = {}) {
  return { type: "custom", custom: { name, ...more } };
}

function advisor(name?: string) {
  return { type: "openrouter:advisor", parameters: name === undefined ? {} : { name } };
}

function subagent(name: string) {
  return { type: "openrouter:subagent", parameters: { name } };
}

describe("duplicate tools on one side", () => {
  const mcp = (label: string) => ({ type: "mcp", server_label: label });

  it("are all kept", () => {
    expect(merged([mcp("a"), mcp("b")], [fn("x")]).tools).toEqual([mcp("a"), mcp("b"), fn("x")]);
    expect(merged([fn("x")], [mcp("a"), mcp("b")]).tools).toEqual([fn("x"), mcp("a"), mcp("b")]);
  });

  it("replace all their equals", () => {
    expect(merged([mcp("a"), fn("x"), mcp("b")], [mcp("c"), mcp("d")])).toEqual({
      tools: [mcp("c"), fn("x"), mcp("d")],
      origins: [replaced, preset, request],
      dropped: [{ field: "/tools/2", from: "preset", reason: "the request sends a tool like it" }],
    });
  });
});

describe("tools that cannot be merged", () => {
  it.each([
    ["not a list", { a: 1 }, "tools must be a list"],
    ["too many", Array(1_001).fill({}), "tools must have at most 1000 elements"],
    ["too many fields", [Object.fromEntries(Array.from({ length: 33 }, (_, n) => [n, n]))], "more than 32 fields"],
  ])("are rejected: %s", (_case, tools, message) => {
    expect(() => merged([fn("a")], tools)).toThrow(message);
    // Tools that are not merged are left to the upstream.
    expect(merged(undefined, tools).tools).toEqual(tools);
  });

  it("are rejected in a preset as well", () => {
    const config = { tools: Array(1_001).fill({}) };
    for (const from of ["messages", "chat/completions"] as const) {
      expect(() => mergeInto("messages", { model: "m" }, { config, dialect: from })).toThrow(
        "tools of the preset must have at most 1000 elements",
      );
    }
  });

  it("are accepted up to the limits", () => {
    expect(merged([fn("a")], Array(1_000).fill({})).tools).toHaveLength(1_001);
    const wide = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [n, n]));
    expect(merged([fn("a")], [wide]).tools).toEqual([fn("a"), wide]);
  });
});
