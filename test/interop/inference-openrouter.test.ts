import type { OpenRouter } from "@openrouter/sdk";
import type { EventStream } from "@openrouter/sdk/lib/event-streams";
import type { ChatResult, ChatStreamChunk, OpenResponsesResult, StreamEvents } from "@openrouter/sdk/models";
import { NotFoundResponseError, UnauthorizedResponseError } from "@openrouter/sdk/models/errors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EchoStack, startEchoStack } from "../support/echo-stack.ts";
import { openRouterWith } from "../support/openrouter.ts";

let stack: EchoStack;
let client: OpenRouter;

beforeAll(async () => {
  stack = await startEchoStack();
  client = openRouterWith(stack.apiKey, stack);
  const chatRequest = {
    model: "echo/small",
    temperature: 0.2,
    messages: [{ role: "system" as const, content: "Be brief." }],
  };
  await client.presets.createPresetsChatCompletions({ slug: "bot", chatRequest });
});

afterAll(() => stack.close());

const messages = [{ role: "user" as const, content: "Hello" }];
const toldOfPreset = ["model: echo/small", "system: Be brief.", "temperature: 0.2", "user: Hello"];

function told(text: unknown): string[] {
  return String(text).split("\n").sort();
}

describe("a chat request from the OpenRouter client", () => {
  it("is sent with the preset that it names", async () => {
    const chatRequest = { model: "@preset/bot", messages };
    const { choices } = (await client.chat.send({ chatRequest })) as ChatResult;
    expect(told(choices[0]?.message.content)).toEqual(toldOfPreset);
  });

  it("can be streamed", async () => {
    const chatRequest = { model: "@preset/bot@1", messages, stream: true };
    let text = "";
    for await (const chunk of (await client.chat.send({ chatRequest })) as EventStream<ChatStreamChunk>) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    expect(told(text)).toEqual(toldOfPreset);
  });
});

describe("a list of models", () => {
  it("is tried in order until one is served", async () => {
    const chatRequest = { models: ["nobody/model", "echo/second"], messages };
    const { choices } = (await client.chat.send({ chatRequest })) as ChatResult;
    expect(told(choices[0]?.message.content)).toEqual(["model: echo/second", "user: Hello"]);
  });
});

describe("a stream with provenance", () => {
  it("is accepted by the client's strict parser", async () => {
    const headers = { "X-Setpoint-Explain": "1" };
    const chatRequest = { model: "@preset/bot", messages, stream: true };
    let text = "";
    const stream = await client.chat.send({ chatRequest }, { headers });
    for await (const chunk of stream as EventStream<ChatStreamChunk>) text += chunk.choices[0]?.delta.content ?? "";
    expect(told(text)).toEqual(toldOfPreset);
  });
});

describe("a responses request from the OpenRouter client", () => {
  const responsesRequest = { model: "@preset/bot", input: "Hello" };

  it("is sent with the preset that it names, without the client's injected defaults", async () => {
    const { output } = (await client.responses.send({ responsesRequest })) as OpenResponsesResult;
    const [item] = output as { content: { text: string }[] }[];
    // The client adds it by default; it is passed on, because the preset does not set it.
    const lines = told(item?.content[0]?.text).filter((line) => !/^(store|service_tier): /.test(line));
    expect(lines).toEqual(toldOfPreset);
  });

  it("can be streamed", async () => {
    const types: string[] = [];
    const stream = await client.responses.send({ responsesRequest: { ...responsesRequest, stream: true } });
    for await (const { type } of stream as EventStream<StreamEvents>) types.push(type);
    expect([types.at(0), types.at(-1)]).toEqual(["response.created", "response.completed"]);
  });
});

describe("an error in the OpenRouter client", () => {
  it.each<[string, () => Promise<unknown>, new (...parts: never[]) => Error]>([
    ["an unknown preset", () => send("@preset/nowhere"), NotFoundResponseError],
    ["a model that no upstream serves", () => send("nobody/model"), NotFoundResponseError],
    ["a wrong key", () => send("@preset/bot", "wrong"), UnauthorizedResponseError],
  ])("reports %s", async (_name, call, type) => {
    await expect(call()).rejects.toBeInstanceOf(type);
  });

  function send(model: string, key = stack.apiKey): Promise<unknown> {
    return openRouterWith(key, stack).chat.send({ chatRequest: { model, messages } });
  }
});

describe("models in the OpenRouter client", () => {
  it("are the presets, then the models that upstreams name", async () => {
    const { result } = await client.models.list();
    expect(result.data.map(({ id }) => id)).toEqual(["@preset/bot", "echo/small"]);
    expect(result.totalCount).toBe(2);
    const second = await client.models.list({ offset: 1, limit: 1 });
    expect(second.result.data.map(({ id }) => id)).toEqual(["echo/small"]);
    expect((await client.models.count()).data.count).toBe(2);
  });
});
