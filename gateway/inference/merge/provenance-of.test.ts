import { expect, it } from "vitest";
import { mergeInto } from "../../../test/support/merge.ts";

it("reports the source of every field", () => {
  const request = {
    model: "@preset/a@7",
    messages: [{ role: "system", content: "own" }],
    temperature: 1,
    max_completion_tokens: 5,
    seed: null,
    user: "u",
    service_tier: "auto",
    preset: "a@7",
    "a/b~": 1,
  };
  const config = { model: "p", temperature: 0, max_tokens: 9, seed: 3, service_tier: "flex", top_p: 1 };
  expect(mergeInto("chat/completions", request, { config, prompt: "P" }, { pinned: true }).provenance()).toEqual({
    preset: { slug: "a", version: 7, version_id: "id-7", pinned: true },
    fields: {
      "/model": { from: "preset" },
      "/messages": { from: "request" },
      "/messages/0": { from: "merged" },
      "/temperature": { from: "request", overrides: "preset" },
      "/max_completion_tokens": { from: "request", overrides: "preset" },
      "/seed": { from: "preset" },
      "/user": { from: "request" },
      "/service_tier": { from: "preset" },
      "/a~1b~0": { from: "request" },
      "/top_p": { from: "preset" },
    },
    dropped: [{ field: "/max_tokens", from: "preset", reason: "the request sends max_completion_tokens" }],
  });
});

it.each([
  [{ model: "m@preset/a" }, { "/model": { from: "request", overrides: "preset" } }, ["/models"]],
  [{ models: ["m"] }, { "/models": { from: "request", overrides: "preset" } }, ["/model"]],
  [
    { model: "m", models: ["n"] },
    { "/model": { from: "request", overrides: "preset" }, "/models": { from: "request", overrides: "preset" } },
    [],
  ],
  [{}, { "/model": { from: "preset" }, "/models": { from: "preset" } }, []],
])("reports the models of %j", (request, fields, dropped) => {
  const told = mergeInto("responses", request, { config: { model: "p", models: ["q"] } }).provenance();
  expect(told.fields).toEqual(fields);
  expect(told.dropped.map(({ field }) => field)).toEqual(dropped);
});

it("reports a model without an override if the preset has none", () => {
  const { fields } = mergeInto("responses", { model: "m@preset/a" }, {}).provenance();
  expect(fields).toEqual({ "/model": { from: "request" } });
});

it("reports a prompt added where there was none", () => {
  const fieldsOf = (dialect: "chat/completions" | "messages", request: object) =>
    mergeInto(dialect, { model: "m", ...request }, { prompt: "P" }).provenance().fields;
  const preset = { from: "preset" };
  expect(fieldsOf("chat/completions", {})).toMatchObject({ "/messages": preset, "/messages/0": preset });
  expect(fieldsOf("chat/completions", { messages: null })).toMatchObject({
    "/messages": preset,
    "/messages/0": preset,
  });
  expect(fieldsOf("messages", { system: null })).toMatchObject({ "/system": preset });
});

it("reports null tools as the request's if the preset has none either", () => {
  const fieldsOf = (config: object) =>
    mergeInto("messages", { model: "m", tools: null }, { config, dialect: "chat/completions" }).provenance().fields;
  expect(fieldsOf({})).toMatchObject({ "/tools": { from: "request" } });
  expect(fieldsOf({ tools: [{ type: "web_search" }] })).toMatchObject({ "/tools": { from: "request" } });
  expect(fieldsOf({ tools: [{ type: "function", function: { name: "f" } }] })).toMatchObject({
    "/tools/0": { from: "preset" },
  });
});

it("reports more than a thousand tools as one field", () => {
  const fieldsOf = (count: number) =>
    mergeInto("responses", { model: "m", tools: Array(count).fill({}) }, {}).provenance().fields;
  expect(Object.keys(fieldsOf(1_000))).toHaveLength(1_001);
  expect(fieldsOf(1_001)).toEqual({ "/model": { from: "request" }, "/tools": { from: "request" } });
});

it("reports preset fields without an equivalent", () => {
  const preset = { config: { model: "p", stop: "a" }, dialect: "chat/completions" } as const;
  expect(mergeInto("responses", {}, preset).provenance().dropped).toEqual([
    { field: "/stop", from: "preset", reason: "has no equivalent in responses" },
  ]);
});

it.each([
  [
    "a token limit",
    "responses",
    { config: { max_output_tokens: 9 }, request: { max_tokens: 5 } },
    ["/max_output_tokens", "max_tokens"],
  ],
  [
    "an effort",
    "responses",
    { config: { reasoning: { effort: "low" } }, request: { reasoning: {} } },
    ["/reasoning/effort", "reasoning"],
  ],
  [
    "a tool",
    "messages",
    {
      config: { tools: [{ type: "bash_20250124", name: "bash" }, { name: "f" }, { name: "f" }] },
      request: { tools: [{ type: "function", function: { name: "f" } }] },
    },
    ["/tools/2", "a tool like it"],
  ],
] as const)("reports %s that is not used by its name in the preset", (_what, from, given, told) => {
  const preset = { config: { model: "p", ...given.config }, dialect: from };
  const { dropped } = mergeInto("chat/completions", given.request, preset).provenance();
  const [field, what] = told;
  expect(dropped.at(-1)).toEqual({ field, from: "preset", reason: `the request sends ${what}` });
});
