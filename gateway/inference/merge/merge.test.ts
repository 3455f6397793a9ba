import { describe, expect, it } from "vitest";
import { jsonOf, mergeInto, textOfParts } from "../../../test/support/merge.ts";
import { type RequestBody, readRequestBody } from "../request/request-body.ts";
import { mergeRequest } from "./merge.ts";

const chat = "chat/completions";
/** The outgoing body of a chat request. */
const merged = (request: object | string, config: object | string) => jsonOf(mergeInto(chat, request, { config }));
const textOf = (request: string, config: object | string) => textOfParts(mergeInto(chat, request, { config }).parts);

describe("a merged field", () => {
  it.each([
    ["of the request wins", { temperature: 1 }, { temperature: 0.2 }, { temperature: 1 }],
    ["of the preset is used if the request has none", {}, { top_p: 0.5 }, { top_p: 0.5 }],
    ["that is null counts as not sent", { temperature: null }, { temperature: 0.2 }, { temperature: 0.2 }],
    ["that is null stays if the preset has none", { temperature: null }, {}, { temperature: null }],
    [
      "that is false, 0 or empty wins",
      { logprobs: false, seed: 0 },
      { logprobs: true, seed: 1 },
      { logprobs: false, seed: 0 },
    ],
    ["that is an object is replaced whole", { provider: { a: 1 } }, { provider: { b: 2 } }, { provider: { a: 1 } }],
    ["that is a list is replaced whole", { plugins: [] }, { plugins: [{ id: "x" }] }, { plugins: [] }],
    [
      "service_tier auto of a client does not override the preset",
      { service_tier: "auto" },
      { service_tier: "flex" },
      { service_tier: "flex" },
    ],
    ["service_tier is sent unchanged if the preset has none", { service_tier: "auto" }, {}, { service_tier: "auto" }],
    [
      "service_tier chosen by the client wins",
      { service_tier: "default" },
      { service_tier: "flex" },
      { service_tier: "default" },
    ],
    ["preset is never sent", { preset: "a" }, {}, {}],
    ["preset is not sent even if null", { preset: null }, {}, {}],
    ["that presets never hold is passed on", { store: false, user: "u" }, {}, { store: false, user: "u" }],
  ])("%s", (_rule, request, config, expected) => {
    expect(merged({ model: "m", ...request }, config)).toEqual({ model: "m", ...expected });
  });

  it("that is null in the preset counts as missing", () => {
    expect(merged({ model: "m" }, { top_p: null })).toEqual({ model: "m" });
  });
});

describe("a preset model with an empty name", () => {
  it.each([{ model: "" }, { models: [""] }, { models: [] }, { model: "", models: [""] }])(
    "counts as missing: %j",
    (config) => {
      expect(() => merged({}, config)).toThrow("model is required: the preset a@7 names none");
      expect(merged({ model: "m" }, config)).toEqual({ model: "m" });
    },
  );

  it("is not sent along with others", () => {
    expect(merged({}, { model: "", models: ["m"] })).toEqual({ models: ["m"] });
  });
});

describe("equivalent fields", () => {
  const lengths = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
  const groups = [lengths, ["reasoning", "reasoning_effort"], ["stop", "stop_sequences"]];
  const pairs = groups.flatMap((group) => group.flatMap((own) => group.map((other) => [own, other] as const)));

  it.each(pairs)("%s of the request overrides %s of the preset", (own, other) => {
    expect(merged({ model: "m", [own]: 1 }, { [other]: 2 })).toEqual({ model: "m", [own]: 1 });
  });

  it.each(pairs)("%s that is null neither overrides %s nor stays", (own, other) => {
    expect(merged({ model: "m", [own]: null }, { [other]: 2 })).toEqual({ model: "m", [other]: 2 });
  });

  it("are taken from the preset all together or not at all", () => {
    const config = { max_tokens: 1, max_completion_tokens: 2 };
    expect(merged({ model: "m", max_tokens: null }, config)).toEqual({ model: "m", ...config });
    expect(merged({ model: "m", max_output_tokens: 3 }, config)).toEqual({ model: "m", max_output_tokens: 3 });
  });
});

describe("merged models", () => {
  const both = { model: "p", models: ["p", "q"] };
  it.each([
    ["a reference is replaced by the preset's", { model: "@preset/a" }, { model: "p" }, { model: "p" }],
    [
      "a reference with a version is replaced by the preset's",
      { model: "@preset/a@7" },
      { model: "p" },
      { model: "p" },
    ],
    ["a reference is replaced by both of the preset's", { model: "@preset/a" }, both, both],
    ["a reference is replaced by models alone", { model: "@preset/a" }, { models: ["q"] }, { models: ["q"] }],
    ["a model with a reference overrides both", { model: "m@preset/a" }, both, { model: "m" }],
    ["a model next to the preset field overrides both", { model: "m", preset: "a" }, both, { model: "m" }],
    ["models next to a reference override both", { model: "@preset/a", models: ["m"] }, both, { models: ["m"] }],
    ["models alone override both", { preset: "a", models: ["m"] }, both, { models: ["m"] }],
    ["a model and models override both", { model: "m", models: ["n"] }, both, { model: "m", models: ["n"] }],
    ["without any in the request are the preset's", { preset: "a" }, both, both],
    ["null counts as missing", { model: null, models: null }, { models: ["q"] }, { models: ["q"] }],
    ["an empty name counts as missing", { model: "", preset: "a" }, { model: "p" }, { model: "p" }],
    ["an empty list counts as missing", { model: "@preset/a", models: [] }, { model: "p" }, { model: "p" }],
  ])("%s", (_rule, request, config, expected) => {
    expect(merged(request, config)).toEqual(expected);
  });

  it.each([
    [{ model: "m" }, "m", []],
    [{ models: ["x", "y"] }, "x", ["x", "y"]],
    [{ model: "m", models: ["x"] }, "m", ["x"]],
    [{}, "p", ["q"]],
  ])("are reported for %j", (request, model, models) => {
    const outgoing = mergeInto(chat, request, { config: { model: "p", models: ["q"] } });
    expect([outgoing.model, outgoing.models]).toEqual([model, models]);
  });

  it.each([
    [{}, {}, "model is required: the preset a@7 names none"],
    [{ model: "@preset/a" }, { models: [] }, "model is required: the preset a@7 names none"],
    [{ models: ["@preset/b"] }, { model: "p" }, "models must not hold a reference to a preset"],
    [{ model: "m", models: ["n@preset/b"] }, {}, "models must not hold a reference to a preset"],
    [{ models: ["@Presets/b"] }, { model: "p" }, "models must not hold a reference to a preset"],
    [{ models: [1] }, {}, "models must be a list of names"],
    [{ models: [""] }, {}, "models must be a list of names"],
    [{ models: "m" }, {}, "models must be a list of names"],
    [{ models: ["m".repeat(65_536)] }, {}, "models must be a list of names"],
    [{ model: 1 }, {}, "model must be a string"],
    [{}, { model: "p@preset/b" }, "the preset a@7 names p@preset/b, which refers to another preset"],
  ])("are rejected in %j with %j", (request, config, message) => {
    expect(() => merged(request, config)).toThrow(message);
  });

  it("can be replaced by one", () => {
    const config = { model: "p", models: ["q"], seed: 1 };
    const withModel = (request: string) => textOfParts(mergeInto(chat, request, { config }).withModel('x"y'));
    expect(withModel('{"model": "@preset/a", "user":"u"}')).toBe('{"model": "x\\"y", "user":"u","seed":1}');
    expect(withModel('{"models":["a"],"user":"u"}')).toBe('{"user":"u","seed":1,"model":"x\\"y"}');
    expect(withModel('{"model":"a","models":["b"]}')).toBe('{"model":"x\\"y","seed":1}');
    expect(withModel('{"preset":"a"}')).toBe('{"model":"x\\"y","seed":1}');
  });
});

describe("the outgoing text", () => {
  const config = '{"temperature":0.20,"seed":12345678901234567890}';
  const added = '"temperature":0.20,"seed":12345678901234567890';

  it.each([
    ['{"model":"m"}', `{"model":"m",${added}}`],
    [' { "model" : "m" } ', ` { "model" : "m",${added} } `],
    [
      '{"model":"m","x":1.0,"y":123456789012345678901,"10":0,"2":0,"__proto__":{}}',
      `{"model":"m","x":1.0,"y":123456789012345678901,"10":0,"2":0,"__proto__":{},${added}}`,
    ],
    ['{"preset":"a","model":"m"}', `{"model":"m",${added}}`],
    ['{"model":"m","preset":"a"}', `{"model":"m",${added}}`],
    ['{"model":"m" , "preset" : "a" , "x":1}', `{"model":"m" , "x":1,${added}}`],
    ['{"mod\\u0065l":"m@preset/a","é":"\\u00e9é"}', `{"mod\\u0065l":"m","é":"\\u00e9é",${added}}`],
    ['{"model":"m","seed": null ,"x":1}', '{"model":"m","seed": 12345678901234567890 ,"x":1,"temperature":0.20}'],
    ['\ufeff{"model":"m"}', `{"model":"m",${added}}`],
  ])("of %j keeps what is not touched", (request, expected) => {
    expect(textOf(request, config)).toBe(expected);
  });

  it("is only the preset's if the request has nothing else", () => {
    expect(textOf("{}", '{"model":"p"}')).toBe('{"model":"p"}');
    expect(textOf(' { "preset":"a" , "max_tokens":null } ', '{"model":"p","max_completion_tokens":1}')).toBe(
      ' { "model":"p","max_completion_tokens":1 } ',
    );
  });

  it("reuses the request's own bytes without copying", () => {
    const bytes = Buffer.from(`{"model":"m@preset/a","user":"${"x".repeat(1_000)}","seed":null}`);
    const body = readRequestBody(bytes) as RequestBody;
    const { parts } = mergeRequest(body, undefined, chat, { pinned: false, replaceSystemPrompt: false });
    expect(parts.find(({ length }) => length > 1_000)?.buffer).toBe(bytes.buffer);
  });
});

describe("a request without a preset", () => {
  const send = (text: string) =>
    mergeRequest(readRequestBody(Buffer.from(text)) as RequestBody, undefined, chat, {
      pinned: false,
      replaceSystemPrompt: false,
    });

  it("is sent byte for byte", () => {
    const text = ' { "model" : "m" , "messages" : [ ] , "x":1.0, "stop": null } \n';
    expect(textOfParts(send(text).parts)).toBe(text);
  });

  it("must name a model", () => {
    expect(() => send('{"messages":[]}')).toThrow("model is required");
  });

  it("reports all its fields as its own in the provenance", () => {
    expect(send('{"model":"m","tools":[{}],"a/b~c":1}').provenance()).toEqual({
      preset: null,
      fields: { "/model": { from: "request" }, "/tools/0": { from: "request" }, "/a~1b~0c": { from: "request" } },
      dropped: [],
    });
  });

  it.each([
    ["true", true],
    ["false", false],
    ["null", false],
    ['"true"', false],
  ])("is streamed if `stream` is true: %s", (stream, expected) => {
    expect(send(`{"model":"m","stream":${stream}}`).isStreamed).toBe(expected);
  });
});
