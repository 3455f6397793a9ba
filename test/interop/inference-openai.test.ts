import { once } from "node:events";
import type { ServerResponse } from "node:http";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EchoStack, startEchoStack } from "../support/echo-stack.ts";

let stack: EchoStack;
let client: OpenAI;

beforeAll(async () => {
  stack = await startEchoStack();
  client = clientWith(stack.apiKey);
  const messages = [{ role: "system", content: "Be brief." }];
  await stack.create("bot", { model: "echo/old", messages });
  await stack.create("bot", {
    model: "echo/small",
    temperature: 0.2,
    max_tokens: 64,
    tools: [tool("look_up")],
    messages,
  });
});

afterAll(() => stack.close());

function clientWith(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${stack.baseUrl}/api/v1`, maxRetries: 0 });
}

function tool(name: string) {
  return { type: "function" as const, function: { name, parameters: { type: "object" } } };
}

const messages = [{ role: "user" as const, content: "Hello" }];

/** The lines in which the upstream describes the request, in any order. */
function told(text: string | null | undefined): string[] {
  return (text ?? "").split("\n").sort();
}

const toldOfPreset = told(
  "max_tokens: 64\nmodel: echo/small\nsystem: Be brief.\ntemperature: 0.2\ntools: look_up\nuser: Hello",
);

describe("a chat completion from the openai client", () => {
  it("is sent with the preset that it names", async () => {
    const { data, response } = await client.chat.completions.create({ model: "@preset/bot", messages }).withResponse();
    expect(told(data.choices[0]?.message.content)).toEqual(toldOfPreset);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "x-setpoint-preset": "bot@2",
      "x-setpoint-upstream": "echo",
      "x-request-id": expect.stringMatching(/\w/),
    });
  });

  it("can be streamed, with usage", async () => {
    const stream = client.chat.completions.stream({
      model: "@preset/bot",
      messages,
      stream_options: { include_usage: true },
    });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(told(choices[0]?.message.content)).toEqual(toldOfPreset);
    expect(usage?.total_tokens).toBeGreaterThan(0);
  });

  it("can use a pinned version", async () => {
    const { choices } = await client.chat.completions.create({ model: "@preset/bot@1", messages });
    expect(told(choices[0]?.message.content)).toEqual(["model: echo/old", "system: Be brief.", "user: Hello"]);
  });

  it("overrides the preset's fields with its own, and adds its tools", async () => {
    const { choices } = await client.chat.completions.create({
      model: "echo/other@preset/bot",
      temperature: 1,
      max_completion_tokens: 5,
      tools: [tool("search")],
      messages: [{ role: "system", content: "Be kind." }, ...messages],
    });
    expect(told(choices[0]?.message.content)).toEqual(
      told(
        "model: echo/other\ntemperature: 1\nmax_completion_tokens: 5\ntools: look_up, search\nsystem: Be brief.\n\nBe kind.\nuser: Hello",
      ),
    );
  });

  it("returns provenance on request, whole or streamed", async () => {
    const asked = { headers: { "X-Setpoint-Explain": "1" } };
    const { response } = await client.chat.completions.create({ model: "@preset/bot", messages }, asked).withResponse();
    expect(JSON.parse(response.headers.get("x-setpoint-provenance") ?? "")).toMatchObject({
      preset: { slug: "bot", version: 2, pinned: false },
      fields: { "/temperature": { from: "preset" } },
    });
    const stream = client.chat.completions.stream({ model: "@preset/bot", messages }, asked);
    expect(told((await stream.finalChatCompletion()).choices[0]?.message.content)).toEqual(toldOfPreset);
  });

  it("is sent unchanged without a preset", async () => {
    const { choices } = await client.chat.completions.create({ model: "echo/plain", messages });
    expect(told(choices[0]?.message.content)).toEqual(["model: echo/plain", "user: Hello"]);
  });

  it("is aborted upstream when the client aborts it", async () => {
    const begun = once(stack.echo, "request") as Promise<[unknown, ServerResponse]>;
    const stream = await client.chat.completions.create({ model: "echo/slow@preset/bot", messages, stream: true });
    const [, served] = await begun;
    for await (const _chunk of stream) break;
    stream.controller.abort();
    await expect.poll(() => served.destroyed).toBe(true);
    expect(served.writableEnded).toBe(false);
  });
});

describe("a response from the openai client", () => {
  it("can use a preset created from a chat completion", async () => {
    const { output_text } = await client.responses.create({ model: "@preset/bot", input: "Hello" });
    expect(told(output_text)).toEqual(
      told(
        "max_output_tokens: 64\nmodel: echo/small\nsystem: Be brief.\ntemperature: 0.2\ntools: look_up\nuser: Hello",
      ),
    );
  });

  it("can be streamed", async () => {
    const stream = client.responses.stream({ model: "@preset/bot@1", input: "Hello" });
    const { output_text } = await stream.finalResponse();
    expect(told(output_text)).toEqual(["model: echo/old", "system: Be brief.", "user: Hello"]);
  });
});

describe("a token count from the openai client", () => {
  it("includes the preset's prompt and tools", async () => {
    const own = await client.responses.inputTokens.count({ model: "echo/small", input: "Hello" });
    const { data, response } = await client.responses.inputTokens
      .count({ model: "@preset/bot", input: "Hello" })
      .withResponse();
    expect(data.input_tokens).toBeGreaterThan(own.input_tokens);
    expect(response.headers.get("x-setpoint-preset")).toBe("bot@2");
  });
});

describe("a model in the openai client", () => {
  it.each(["@preset/bot", "echo/small", "echo/any"])("can be retrieved: %s", async (id) => {
    const owned_by = id.startsWith("@preset/") ? "setpoint" : "upstream";
    const model = { id, object: "model", created: expect.any(Number), owned_by };
    expect(await client.models.retrieve(id)).toMatchObject(model);
  });

  it("is listed", async () => {
    const { object, data } = await client.models.list();
    expect(object).toBe("list");
    expect(data).toMatchObject([
      { id: "@preset/bot", object: "model", owned_by: "setpoint" },
      { id: "echo/small", object: "model", owned_by: "upstream" },
    ]);
  });

  it.each(["@preset/nowhere", "nobody/model"])("is not found: %s", async (id) => {
    await expect(client.models.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });
});

describe("an error in the openai client", () => {
  it.each<[string, () => PromiseLike<unknown>, new (...parts: never[]) => Error, RegExp]>([
    ["an unknown preset", () => complete("@preset/bott"), OpenAI.NotFoundError, /bot\b/],
    ["an unknown version", () => complete("@preset/bot@9"), OpenAI.NotFoundError, /9/],
    ["a model that no upstream serves", () => complete("nobody/model"), OpenAI.NotFoundError, /nobody\/model/],
    ["a malformed reference", () => complete("@preset/-"), OpenAI.BadRequestError, /\w/],
    ["an archived preset", () => completeArchived(), OpenAI.ConflictError, /"status": "active"/],
    ["a wrong key", () => complete("echo/a", "wrong"), OpenAI.AuthenticationError, /key/],
    [
      "a key without the permission",
      async () => complete("echo/a", await readingKey()),
      OpenAI.PermissionDeniedError,
      /inference/,
    ],
  ])("reports %s", async (_name, call, type, message) => {
    const error = await Promise.resolve(call()).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(type);
    expect((error as Error).message).toMatch(message);
  });

  it("that is permanent is not retried", async () => {
    await stack.create("resting", { model: "echo/small", messages });
    await stack.request("PATCH", "/presets/resting", { key: stack.apiKey, body: { status: "disabled" } });
    const patient = new OpenAI({ apiKey: stack.apiKey, baseURL: `${stack.baseUrl}/api/v1`, maxRetries: 2 });
    const sent = () => stack.log().split('"route":"/api/v1/chat/completions"').length;
    const before = sent();
    const call = patient.chat.completions.create({ model: "@preset/resting", messages });
    await expect(call).rejects.toBeInstanceOf(OpenAI.ConflictError);
    expect(sent() - before).toBe(1);
  });

  function complete(model: string, key = stack.apiKey) {
    return clientWith(key).chat.completions.create({ model, messages });
  }

  async function completeArchived() {
    await stack.create("retired", { model: "echo/small", messages });
    await stack.request("PATCH", "/presets/retired", { key: stack.apiKey, body: { status: "archived" } });
    return complete("@preset/retired");
  }

  async function readingKey(): Promise<string> {
    return (await stack.tenants.createKey(stack, { permissions: ["presets:read"] })).secret;
  }
});
