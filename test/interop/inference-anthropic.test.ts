import { once } from "node:events";
import type { ServerResponse } from "node:http";
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EchoStack, startEchoStack } from "../support/echo-stack.ts";
import { uuidV7 } from "../support/patterns.ts";

let stack: EchoStack;
let client: Anthropic;

beforeAll(async () => {
  stack = await startEchoStack();
  client = clientWith(stack.apiKey);
  const tools = [{ name: "look_up", input_schema: { type: "object" } }];
  const body = { model: "echo/small", max_tokens: 64, system: "Be brief.", stop_sequences: ["END"], tools };
  await stack.create("bot", { ...body, messages }, { dialect: "messages" });
});

afterAll(() => stack.close());

function clientWith(apiKey: string): Anthropic {
  return new Anthropic({ apiKey, baseURL: `${stack.baseUrl}/api`, maxRetries: 0 });
}

const messages = [{ role: "user" as const, content: "Hello" }];
const ask = { model: "@preset/bot", max_tokens: 9, messages };

function told(message: Anthropic.Message): string[] {
  return message.content.flatMap((block) => (block.type === "text" ? block.text.split("\n") : [])).sort();
}

const toldOfPreset = [
  "max_tokens: 9",
  "model: echo/small",
  'stop_sequences: ["END"]',
  "system: Be brief.",
  "tools: look_up",
  "user: Hello",
];

describe("a message from the Anthropic client", () => {
  it("is sent with the preset that it names", async () => {
    const { data, response } = await client.messages.create(ask).withResponse();
    expect(told(data)).toEqual(toldOfPreset);
    expect(response.headers.get("x-setpoint-preset")).toBe("bot@1");
  });

  it("has the id of its request", async () => {
    for (const stream of [false, true]) {
      const { request_id: requestId, response } = await client.messages.create({ ...ask, stream }).withResponse();
      expect(requestId).toMatch(uuidV7);
      expect(requestId).toBe(response.headers.get("x-request-id"));
    }
  });

  it("can be streamed", async () => {
    const events: string[] = [];
    const stream = client.messages.stream(ask).on("streamEvent", ({ type }) => events.push(type));
    expect(told(await stream.finalMessage())).toEqual(toldOfPreset);
    expect([events.at(0), events.at(-1)]).toEqual(["message_start", "message_stop"]);
  });

  it("can be streamed with provenance", async () => {
    const stream = client.messages.stream(ask, { headers: { "X-Setpoint-Explain": "1" } });
    expect(told(await stream.finalMessage())).toEqual(toldOfPreset);
  });

  it("puts its own system prompt after the preset's, and adds its tools", async () => {
    const message = await client.messages.create({
      ...ask,
      system: [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "search", input_schema: { type: "object" } }],
    });
    const lines = told(message);
    expect(lines).toContain("tools: look_up, search");
    const text = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    expect(text).toMatch(/system: Be brief\.\s+Be kind\./);
  });

  it("can be sent with a bearer token", async () => {
    const bearer = new Anthropic({ authToken: stack.apiKey, apiKey: null, baseURL: `${stack.baseUrl}/api` });
    expect(told(await bearer.messages.create(ask))).toEqual(toldOfPreset);
  });

  it("is aborted upstream when the client aborts it", async () => {
    const begun = once(stack.echo, "request") as Promise<[unknown, ServerResponse]>;
    const stream = client.messages.stream({ ...ask, model: "echo/slow" });
    const [, served] = await begun;
    await stream.emitted("connect");
    stream.abort();
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
    await expect.poll(() => served.destroyed).toBe(true);
    expect(served.writableEnded).toBe(false);
  });
});

describe("a token count from the Anthropic client", () => {
  const count = { model: "@preset/bot", messages };

  it("includes the preset's prompt and tools, and is sent without what only matters for an answer", async () => {
    const own = await client.messages.countTokens({ ...count, model: "echo/small" });
    const { data, response } = await client.messages.countTokens(count).withResponse();
    expect(data.input_tokens).toBeGreaterThan(own.input_tokens);
    expect(response.headers.get("x-setpoint-preset")).toBe("bot@1");
    const beta = await client.beta.messages.countTokens({ ...count, betas: ["context-management-2025-06-27"] });
    expect(beta.input_tokens).toBe(data.input_tokens);
  });

  it("fails with the client's own error for an unknown preset", async () => {
    const counted = client.messages.countTokens({ ...count, model: "@preset/nowhere" });
    await expect(counted).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });
});

describe("models in the Anthropic client", () => {
  it("are listed", async () => {
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(["@preset/bot", "echo/small"]);
  });

  it("are listed page by page", async () => {
    const page = await client.models.list({ limit: 1 });
    const ids: string[] = [];
    for await (const { id } of page) ids.push(id);
    expect([page.data.length, ids]).toEqual([1, ["@preset/bot", "echo/small"]]);
  });

  it("can be retrieved", async () => {
    expect(await client.models.retrieve("@preset/bot")).toMatchObject({ id: "@preset/bot" });
  });

  it("have what the client says they have", async () => {
    const { data } = await client.models.list();
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(data).toMatchObject([
      { type: "model", display_name: "bot", created_at: time },
      { type: "model", display_name: "echo/small", created_at: "1970-01-01T00:00:00.000Z" },
    ]);
  });
});

describe("an error in the Anthropic client", () => {
  it.each([
    ["an unknown preset", "@preset/nowhere", undefined, Anthropic.NotFoundError, "not_found_error"],
    ["a model that no upstream serves", "nobody/model", undefined, Anthropic.NotFoundError, "not_found_error"],
    ["a wrong key", "@preset/bot", "wrong", Anthropic.AuthenticationError, "authentication_error"],
  ] as const)("for %s has the client's own type", async (_name, model, key, errorClass, type) => {
    const error = await clientWith(key ?? stack.apiKey)
      .messages.create({ ...ask, model })
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    expect(error).toBeInstanceOf(errorClass);
    const { error: body, requestID } = error as InstanceType<typeof Anthropic.APIError>;
    expect(requestID).toMatch(uuidV7);
    const message = expect.stringMatching(/\w/);
    expect(body).toEqual({ type: "error", error: { type, message }, request_id: requestID });
  });

  it.each([
    ["creates a batch", () => client.messages.batches.create({ requests: [{ custom_id: "1", params: ask }] })],
    ["reads a batch", () => client.messages.batches.retrieve("batch_1")],
  ])("has the client's own shape where it %s, which there is not", async (_name, call) => {
    const error = (await call().catch((thrown: unknown) => thrown)) as InstanceType<typeof Anthropic.APIError>;
    expect(error).toBeInstanceOf(Anthropic.NotFoundError);
    expect(error.requestID).toMatch(uuidV7);
    expect(error.error).toMatchObject({
      type: "error",
      error: { type: "not_found_error" },
      request_id: error.requestID,
    });
  });
});
