import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { administrator } from "../support/administration-rest.ts";
import { answerWith, HostileUpstream } from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({
    upstreams: [
      entryOf(upstream, { name: "stripped", models: ["vendor/*"], strip_prefix: "vendor/" }),
      entryOf({ url: `${upstream.url}?region=eu` }),
    ],
  });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

beforeEach(() => upstream.reset());

const messages = [{ role: "user", content: "hi" }];
const thinking = { type: "enabled", budget_tokens: 2_000 };
const reasoning = { effort: "low" };
const [messagesTool, responsesTool] = [
  { name: "look_up", input_schema: { type: "object" } },
  { type: "function", name: "look_up", parameters: { type: "object" } },
];

const sent = () => JSON.parse(upstream.last.body());

describe("a token count of messages", () => {
  const call = "messages/count_tokens";

  beforeAll(async () => {
    const body = {
      model: "vendor/model",
      max_tokens: 4_000,
      temperature: 1,
      stop_sequences: ["END"],
      service_tier: "standard_only",
      thinking,
      tools: [messagesTool],
      tool_choice: { type: "auto" },
      system: "Be brief.",
      messages: [],
    };
    expect((await stack.create("counted", body, { dialect: "messages" })).status).toBe(200);
  });

  it("is passed on as it is without a preset, to the path of the upstream", async () => {
    const body = '{ "model":"m", "messages":[{"role":"user","content":"é"}], "temperature":1.0 }';
    upstream.script = answerWith(200, '{"input_tokens":9}');
    const answer = await stack.send(call, body);
    expect([answer.status, await answer.text()]).toEqual([200, '{"input_tokens":9}']);
    expect(upstream.last.body()).toBe(body);
    expect(upstream.last.requestLine).toBe("POST /v1/messages/count_tokens?region=eu HTTP/1.1");
  });

  it("takes of a preset what counts, and tells on request what it leaves out", async () => {
    upstream.script = answerWith(200, '{"input_tokens":9}');
    const explained = { headers: { "X-Setpoint-Explain": "1" } };
    const answer = await stack.send(call, { model: "@preset/counted", messages, system: "Be kind." }, explained);
    expect(answer.headers.get("x-setpoint-preset")).toBe("counted@1");
    expect(sent()).toEqual({
      model: "model",
      messages,
      system: "Be brief.\n\nBe kind.",
      thinking,
      tools: [messagesTool],
      tool_choice: { type: "auto" },
    });
    const { dropped } = JSON.parse(answer.headers.get("x-setpoint-provenance") ?? "");
    expect(dropped).toContainEqual({ field: "/temperature", from: "preset", reason: `is not taken by ${call}` });
    expect(dropped).toHaveLength(4);
  });

  it("leaves the preset whole for an answer", async () => {
    await stack.send(call, { model: "@preset/counted", messages });
    await stack.send("messages", { model: "@preset/counted", messages });
    expect(sent()).toMatchObject({ max_tokens: 4_000, temperature: 1, stop_sequences: ["END"] });
  });

  it("uses the first model of a preset that has only a list", async () => {
    const models = ["vendor/first", "vendor/second"];
    await stack.create("listed", { models, seed: 1, messages: [{ role: "system", content: "Be brief." }] });
    await stack.send(call, { model: "@preset/listed", messages });
    expect(sent()).toEqual({ model: "first", messages, system: "Be brief." });
  });

  it("returns the error of an upstream that does not count", async () => {
    upstream.script = answerWith(404, '{"detail":"Not Found"}');
    const answer = await stack.send(call, { model: "m", messages });
    expect([answer.status, await answer.text()]).toEqual([404, '{"detail":"Not Found"}']);
  });

  it.each<[string, () => Promise<string>, number, string]>([
    ["without a known key", async () => "wrong", 401, "authentication_error"],
    [
      "with a key that may not call models",
      async () => (await administrator(stack).makeKey({ permissions: ["presets:read"] })).key,
      403,
      "permission_error",
    ],
  ])("is refused %s", async (_name, key, status, type) => {
    const headers = { authorization: `Bearer ${await key()}` };
    const answer = await stack.send(call, { model: "m", messages }, { headers });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ type: "error", error: { type } });
    expect(upstream.received).toEqual([]);
  });

  it("is not counted as used tokens", async () => {
    upstream.script = answerWith(200, '{"input_tokens":9}');
    const used = () => stack.metric("setpoint_inference_tokens_total");
    const before = await used();
    await (await stack.send(call, { model: "m", messages })).text();
    expect(await used()).toBe(before);
  });
});

describe("a token count of responses", () => {
  const call = "responses/input_tokens";

  it("takes of a preset what counts, translated from its dialect", async () => {
    const tools = [{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }];
    const prompt = [{ role: "system", content: "Be brief." }];
    const body = { model: "vendor/model", temperature: 1, seed: 5, max_tokens: 9, reasoning_effort: "low", tools };
    await stack.create("from-chat", { ...body, messages: prompt });
    await stack.send(call, { model: "@preset/from-chat", input: "hi" });
    expect(upstream.last.requestLine).toBe("POST /v1/responses/input_tokens HTTP/1.1");
    expect(sent()).toEqual({
      model: "model",
      input: "hi",
      instructions: "Be brief.",
      reasoning,
      tools: [responsesTool],
    });
  });
});
