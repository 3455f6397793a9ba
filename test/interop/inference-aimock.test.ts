import Anthropic from "@anthropic-ai/sdk";
import { LLMock } from "@copilotkit/aimock";
import type { EventStream } from "@openrouter/sdk/lib/event-streams";
import type { ChatStreamChunk, StreamEvents } from "@openrouter/sdk/models";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type EchoStack, startEchoStack } from "../support/echo-stack.ts";
import { openRouterWith } from "../support/openrouter.ts";

let mock: LLMock;
let stack: EchoStack;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  mock = new LLMock({ port: 0, host: "127.0.0.1" });
  await mock.start();
  const dialects = ["chat/completions", "messages", "responses"];
  const upstream = { name: "mock", base_url: `${mock.url}/v1`, dialects, models: ["mock/*"], strip_prefix: "mock/" };
  stack = await startEchoStack([upstream]);
  const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];
  const messages = [{ role: "system", content: "Be brief." }];
  await stack.create("bot", { model: "mock/gpt-4.1", temperature: 0.2, max_tokens: 100, tools, messages });
  openai = new OpenAI({ apiKey: stack.apiKey, baseURL: `${stack.baseUrl}/api/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: stack.apiKey, baseURL: `${stack.baseUrl}/api`, maxRetries: 0 });
});

afterEach(() => {
  mock.reset();
});

afterAll(async () => {
  await stack?.close();
  await mock?.stop();
});

const model = "@preset/bot";
const messages = [{ role: "user" as const, content: "What is the weather?" }];
const text = "It is sunny, and it stays so.";
const toolCalls = [{ name: "weather", arguments: '{"city":"Riga"}' }];

describe("a mock of the public APIs behind the gateway", () => {
  it("answers through the gateway in every dialect, whole and streamed", async () => {
    mock.onMessage("weather", { content: text });
    const chat = await openai.chat.completions.create({ model, messages });
    expect(chat.choices[0]?.message.content).toBe(text);
    const chatStream = openai.chat.completions.stream({ model, messages });
    expect((await chatStream.finalChatCompletion()).choices[0]?.message.content).toBe(text);
    expect((await openai.responses.create({ model, input: messages })).output_text).toBe(text);
    const responseStream = openai.responses.stream({ model, input: messages });
    expect((await responseStream.finalResponse()).output_text).toBe(text);
    const message = await anthropic.messages.create({ model, max_tokens: 10, messages });
    expect(message.content).toMatchObject([{ type: "text", text }]);
    const messageStream = anthropic.messages.stream({ model, max_tokens: 10, messages });
    expect(await messageStream.finalText()).toBe(text);
  });

  it("receives the preset and its own model name, but no client credential", async () => {
    mock.onMessage("weather", { content: text });
    await openai.chat.completions.create({ model, messages });
    const { body, headers } = mock.getLastRequest() ?? {};
    expect(body).toMatchObject({
      model: "gpt-4.1",
      temperature: 0.2,
      max_tokens: 100,
      tools: [{ function: { name: "weather" } }],
      messages: [{ role: "system", content: "Be brief." }, messages[0]],
    });
    expect(JSON.stringify([body, headers])).not.toContain("sk-sp-");
  });

  it("calls tools of the preset", async () => {
    mock.onMessage("weather", { toolCalls });
    const stream = openai.chat.completions.stream({ model, messages });
    const [call] = (await stream.finalChatCompletion()).choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ function: { name: "weather", arguments: '{"city":"Riga"}' } });
    const message = await anthropic.messages.stream({ model, max_tokens: 10, messages }).finalMessage();
    expect(message.content).toMatchObject([{ type: "tool_use", name: "weather", input: { city: "Riga" } }]);
    expect(message.stop_reason).toBe("tool_use");
  });

  it("has its errors passed on", async () => {
    mock.nextRequestError(400, { message: "Too many words", type: "invalid_request_error" });
    const refused = openai.chat.completions.create({ model, messages }).catch((error: unknown) => error);
    expect(await refused).toBeInstanceOf(OpenAI.BadRequestError);
    expect(((await refused) as Error).message).toContain("Too many words");
    mock.reset();
    mock.nextRequestError(500, { message: "Out of order" });
    const failed = anthropic.messages.create({ model, max_tokens: 10, messages }).catch((error: unknown) => error);
    expect(await failed).toBeInstanceOf(Anthropic.InternalServerError);
    expect(((await failed) as Error).message).toContain("Out of order");
  });

  it("that breaks off in mid-stream gives the client an error, not a short answer", async () => {
    mock.onMessage("weather", { content: text.repeat(20) }, { truncateAfterChunks: 3, chunkSize: 10, latency: 20 });
    const stream = await openai.chat.completions.create({ model, messages, stream: true });
    const read = async () => {
      for await (const _chunk of stream);
    };
    await expect(read()).rejects.toThrow();
    const message = anthropic.messages.stream({ model, max_tokens: 10, messages }).finalMessage();
    await expect(message).rejects.toThrow();
  });

  it("that breaks off sends a last event that a strict parser accepts", async () => {
    mock.onMessage("weather", { content: text.repeat(20) }, { truncateAfterChunks: 4, chunkSize: 10, latency: 20 });
    const client = openRouterWith(stack.apiKey, stack);
    const chunks: ChatStreamChunk[] = [];
    const chat = await client.chat.send({ chatRequest: { model, messages, stream: true } });
    for await (const chunk of chat as EventStream<ChatStreamChunk>) chunks.push(chunk);
    expect(chunks.at(-1)).toMatchObject({
      error: { code: 502, message: expect.stringMatching(/\w/) },
      choices: [{ finishReason: "error" }],
    });
    const events: StreamEvents[] = [];
    const responses = await client.responses.send({ responsesRequest: { model, input: messages, stream: true } });
    for await (const event of responses as EventStream<StreamEvents>) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: "error", message: expect.stringMatching(/\w/) });
  });
});
