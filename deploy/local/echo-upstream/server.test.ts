import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import { OpenRouter } from "@openrouter/sdk";
import type { EventStream } from "@openrouter/sdk/lib/event-streams";
import type { ChatResult, ChatStreamChunk, OpenResponsesResult, StreamEvents } from "@openrouter/sdk/models";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEchoServer } from "./server.ts";

let server: Server;
let origin: string;

beforeAll(async () => {
  server = createEchoServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
});

function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return fetch(`${origin}${path}`, { method: "POST", headers, body: text, ...(signal ? { signal } : {}) });
}

const user = { role: "user" as const, content: "Hello there" };
const chat = {
  model: "echo/small",
  temperature: 0.2,
  messages: [{ role: "system" as const, content: "Be brief." }, user],
  tools: [{ type: "function" as const, function: { name: "look_up" } }],
};
const message = {
  model: "echo/small",
  max_tokens: 100,
  system: "Be brief.",
  messages: [user],
  stop_sequences: ["END"],
};
const response = { model: "echo/small", instructions: "Be brief.", input: "Hello there", top_p: 0.5 };

const chatText = "model: echo/small\ntemperature: 0.2\ntools: look_up\nsystem: Be brief.\nuser: Hello there";
const messageText = 'model: echo/small\nmax_tokens: 100\nstop_sequences: ["END"]\nsystem: Be brief.\nuser: Hello there';
const responseText = "model: echo/small\ntop_p: 0.5\nsystem: Be brief.\nuser: Hello there";

describe("the openai client", () => {
  const client = () => new OpenAI({ apiKey: "none", baseURL: `${origin}/v1`, maxRetries: 0 });

  it("gets a description of its chat completion", async () => {
    const { choices, usage } = await client().chat.completions.create(chat);
    expect(choices).toMatchObject([{ message: { role: "assistant", content: chatText }, finish_reason: "stop" }]);
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
  });

  it("gets the same as a stream, with usage on request", async () => {
    const stream = client().chat.completions.stream({ ...chat, stream_options: { include_usage: true } });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices[0]?.message.content).toBe(chatText);
    expect(usage?.completion_tokens).toBeGreaterThan(3);
  });

  it("gets a description of its response", async () => {
    const answer = await client().responses.create(response);
    expect(answer).toMatchObject({ output_text: responseText, status: "completed", instructions: "Be brief." });
  });

  it("gets the same as a stream with numbered events", async () => {
    const types: string[] = [];
    const stream = client().responses.stream(response);
    stream.on("event", ({ type, sequence_number }) => {
      expect(sequence_number).toBe(types.push(type) - 1);
    });
    expect((await stream.finalResponse()).output_text).toBe(responseText);
    expect(types.slice(0, 2)).toEqual(["response.created", "response.in_progress"]);
    expect(types.at(-1)).toBe("response.completed");
  });
});

describe("the OpenRouter client", () => {
  const client = () => new OpenRouter({ apiKey: "none", serverURL: `${origin}/v1`, retryConfig: { strategy: "none" } });
  const { messages, model } = chat;

  it("accepts whole answers", async () => {
    const completion = (await client().chat.send({ chatRequest: { model, messages } })) as ChatResult;
    expect(completion.choices[0]?.message.content).toContain("user: Hello there");
    const result = (await client().responses.send({ responsesRequest: response })) as OpenResponsesResult;
    expect(result.output).toMatchObject([{ content: [{ text: expect.stringContaining("system: Be brief.") }] }]);
  });

  it("accepts every event of a stream", async () => {
    const chatRequest = { model, messages, stream: true };
    let text = "";
    for await (const chunk of (await client().chat.send({ chatRequest })) as EventStream<ChatStreamChunk>) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    expect(text).toContain("user: Hello there");
    const responsesRequest = { ...response, stream: true };
    const types: string[] = [];
    for await (const event of (await client().responses.send({ responsesRequest })) as EventStream<StreamEvents>) {
      types.push(event.type);
    }
    expect(types.at(0)).toBe("response.created");
    expect(types.at(-1)).toBe("response.completed");
  });
});

describe("the Anthropic client", () => {
  const client = () => new Anthropic({ apiKey: "none", baseURL: origin, maxRetries: 0 });

  it("gets a description of its message", async () => {
    const answer = await client().messages.create(message);
    // Exactly this: the Anthropic provider of the Vercel AI SDK rejects `citations: null`, which Anthropic's own types
    // allow.
    expect(answer.content).toEqual([{ type: "text", text: messageText }]);
    expect(answer.stop_reason).toBe("end_turn");
    expect(answer.usage.output_tokens).toBeGreaterThan(3);
  });

  it("gets the same as a stream", async () => {
    const stream = client().messages.stream(message);
    expect(await stream.finalText()).toBe(messageText);
    expect((await stream.finalMessage()).usage.output_tokens).toBeGreaterThan(3);
  });

  it("gets errors in its own format", async () => {
    const refused = client().messages.create({ ...message, model: "other" });
    await expect(refused).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });
});

describe("a token count", () => {
  it("is given to both clients", async () => {
    const anthropic = new Anthropic({ apiKey: "none", baseURL: origin, maxRetries: 0 });
    const openai = new OpenAI({ apiKey: "none", baseURL: `${origin}/v1`, maxRetries: 0 });
    const { model, system, messages } = message;
    expect((await anthropic.messages.countTokens({ model, system, messages })).input_tokens).toBeGreaterThan(10);
    const { model: named, instructions, input } = response;
    const counted = await openai.responses.inputTokens.count({ model: named, instructions, input });
    expect(counted).toEqual({ object: "response.input_tokens", input_tokens: expect.any(Number) });
  });

  it.each([
    ["/v1/messages/count_tokens", { ...message, stream: true }, "max_tokens: Extra inputs are not permitted"],
    ["/v1/messages/count_tokens", { model: "echo/small" }, "messages: at least one message is required"],
    ["/v1/responses/input_tokens", response, "Unknown parameter: 'top_p'."],
  ])("is refused at %s for a field that does not belong to it, or that is missing", async (path, body, reason) => {
    const answer = await post(path, body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { message: reason } });
  });
});

describe("the description of a request", () => {
  it("contains the text of its parts, and the type of non-text parts", async () => {
    const content = [
      { type: "text", text: "Look:" },
      { type: "image_url", image_url: { url: "data:" } },
    ];
    const answer = await post("/v1/chat/completions", { ...chat, messages: [{ role: "user", content }] });
    const { choices } = (await answer.json()) as OpenAI.ChatCompletion;
    expect(choices[0]?.message.content).toContain("user: Look:\n[image_url]");
  });

  it("is short, however long the request", async () => {
    const long = { ...response, input: "😀".repeat(4_000_000) };
    const answer = await (await post("/v1/responses", long)).text();
    expect(answer.length).toBeLessThan(20_000);
    expect(answer).toContain("… (8000000 characters)");
  });
});

describe("a request that cannot be answered", () => {
  it.each([
    ["invalid JSON", "{", 400],
    ["not an object", "[]", 400],
    ["nothing", "", 400],
    ["no model", {}, 400],
    ["an unknown model", { model: "openai/gpt" }, 404],
    ["no prompt", { model: "echo/small" }, 400],
    ["a body that is too large", " ".repeat(32 * 1024 * 1024 + 1), 413],
  ])("gets an error in the format of its dialect: %s", async (_name, body, status) => {
    for (const path of ["/v1/chat/completions", "/v1/responses"]) {
      const refused = await post(path, body);
      expect(refused.status).toBe(status);
      expect(await refused.json()).toMatchObject({ error: { message: expect.stringMatching(/\w/), code: status } });
    }
    const refused = await post("/v1/messages", body);
    expect(refused.status).toBe(status);
    expect(await refused.json()).toMatchObject({ type: "error", error: { type: expect.stringMatching(/_|too/) } });
  });

  it.each([
    ["GET", "/v1/chat/completions"],
    ["POST", "/v1/__proto__"],
    ["POST", "/constructor"],
  ])("returns 404: %s %s", async (method, path) => {
    expect((await fetch(`${origin}${path}`, { method })).status).toBe(404);
  });

  it("does not disturb others, whatever it is", async () => {
    const socket = connect(Number(new URL(origin).port), "127.0.0.1").on("error", () => {});
    socket.end("garbage\0\r\n\r\n");
    const deep = `{"model":"echo/small","input":"x","deep":${"[".repeat(100_000)}`;
    expect((await post("/v1/responses", deep)).status).toBeGreaterThanOrEqual(400);
    const halfway = new AbortController();
    const sent = post("/v1/responses", " ".repeat(20_000_000), halfway.signal).catch(() => {});
    halfway.abort();
    await sent;
    expect((await post("/v1/responses", response)).status).toBe(200);
  });
});

describe("a slow stream", () => {
  it("arrives word by word, and ends when its reader disconnects", async () => {
    const begun = once(server, "request") as Promise<[IncomingMessage, ServerResponse]>;
    const hangUp = new AbortController();
    const answer = await post("/v1/messages", { ...message, model: "echo/slow", stream: true }, hangUp.signal);
    const { value } = (await answer.body?.getReader().read()) ?? {};
    expect(Buffer.from(value ?? []).toString()).toMatch(/^event: message_start\ndata: \{/);
    const [, served] = await begun;
    hangUp.abort();
    await expect.poll(() => served.destroyed).toBe(true);
    expect(served.writableEnded).toBe(false);
  });
});
