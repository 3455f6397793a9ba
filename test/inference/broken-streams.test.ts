import { gzipSync } from "node:zlib";
import Anthropic from "@anthropic-ai/sdk";
import { ChatStreamChunk$inboundSchema } from "@openrouter/sdk/models/chatstreamchunk.js";
import { ErrorEvent$inboundSchema } from "@openrouter/sdk/models/errorevent.js";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type DialectName, dialectNames } from "../../gateway/dialects/dialect-name.ts";
import { chunkOf, HostileUpstream, headOf, lastChunk, streamHead, streamOf } from "../support/hostile-upstream.ts";
import { type InferenceStack, startInferenceStack } from "../support/inference.ts";

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({
    upstreams: [{ name: "main", base_url: upstream.url, dialects: dialectNames, models: ["*"] }],
  });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

beforeEach(() => upstream.reset());

const events: Readonly<Record<DialectName, string>> = {
  "chat/completions":
    'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"é"},"finish_reason":null}]}\n\n',
  messages:
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"é"}}\n\n',
  responses:
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":41,"delta":"é"}\n\n',
};

async function readToEnd(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

/** What a client makes of a stream: its events, each of which ends with a blank line. */
function eventsOf(text: string): { event: string; data: string }[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const lines = block.split("\n");
      const of = (field: string) =>
        lines
          .filter((line) => line.startsWith(`${field}:`))
          .map((line) => line.slice(field.length + 1).trimStart())
          .join("\n");
      return { event: of("event"), data: of("data") };
    });
}

/** Sends an event, and a second one as far as that many bytes; then the connection ends. */
function breakAfter(dialect: DialectName, bytes: number): void {
  const event = Buffer.from(events[dialect]);
  upstream.script = (_request, socket) => {
    const sent = Buffer.concat([event, event.subarray(0, bytes)]);
    socket.write(Buffer.concat([Buffer.from(streamHead), chunkOf(sent)]), () => socket.destroy());
  };
}

describe.each(dialectNames)("a stream of %s that breaks", (dialect) => {
  const places = [0, 1, 6, 20, events[dialect].indexOf("é") + 1, Buffer.byteLength(events[dialect]) - 1];

  it.each(places)("ends with an event of its own, wherever it broke (%i bytes)", async (bytes) => {
    breakAfter(dialect, bytes);
    const answer = await stack.send(dialect, { model: "m", stream: true });
    expect(answer.status).toBe(200);
    const received = eventsOf(await answer.text());
    expect(received[0]?.data).toBe(eventsOf(events[dialect])[0]?.data);
    const last = received.at(-1);
    const message = "The upstream main broke off its answer.";
    const requestId = answer.headers.get("x-request-id");
    if (dialect === "chat/completions") {
      const chunk = JSON.parse(last?.data ?? "");
      expect(last?.event).toBe("");
      expect(chunk).toMatchObject({ error: { code: 502, message }, choices: [{ finish_reason: "error" }] });
      expect(ChatStreamChunk$inboundSchema.safeParse(chunk).error).toBeUndefined();
    } else if (dialect === "messages") {
      expect(last?.event).toBe("error");
      expect(JSON.parse(last?.data ?? "")).toEqual({
        type: "error",
        error: { type: "api_error", message },
        request_id: requestId,
      });
    } else {
      const data = JSON.parse(last?.data ?? "");
      expect(last?.event).toBe("error");
      expect(data).toEqual({ type: "error", code: "502", message, param: null, sequence_number: 42 });
      expect(ErrorEvent$inboundSchema.safeParse(data).error).toBeUndefined();
    }
  });

  it("closes the connection and is logged as what it is", async () => {
    breakAfter(dialect, 0);
    const answer = await stack.send(dialect, { model: "m", stream: true });
    await answer.text();
    const requestId = answer.headers.get("x-request-id");
    const lines = stack
      .log()
      .split("\n")
      .filter((line) => line.includes(`"request_id":"${requestId}"`));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ msg: "request", status: 502 }),
      expect.objectContaining({ msg: "answer broke off", upstream: "main", level: 40 }),
    ]);
    expect(await stack.metric("setpoint_inference_seconds_count", 'upstream="main"', 'status="502"')).toBeGreaterThan(
      0,
    );
  });
});

describe("clients that others wrote", () => {
  const options = () => ({ apiKey: stack.apiKey, maxRetries: 0 });

  it("throw the error that the gateway tells: openai, chat and responses", async () => {
    const openai = new OpenAI({ ...options(), baseURL: `${stack.baseUrl}/api/v1` });
    breakAfter("chat/completions", 0);
    const chat = await openai.chat.completions.create({ model: "m", messages: [], stream: true });
    await expect(readToEnd(chat)).rejects.toThrow("The upstream main broke off its answer.");
    breakAfter("responses", 0);
    const responses = await openai.responses.create({ model: "m", input: "", stream: true });
    await expect(readToEnd(responses)).rejects.toThrow("The upstream main broke off its answer.");
  });

  it("throw the error that the gateway tells: anthropic", async () => {
    const anthropic = new Anthropic({ ...options(), baseURL: `${stack.baseUrl}/api` });
    breakAfter("messages", 0);
    const stream = await anthropic.messages.create({ model: "m", max_tokens: 1, messages: [], stream: true });
    await expect(readToEnd(stream)).rejects.toThrow("The upstream main broke off its answer.");
  });
});

describe("what comes of an upstream", () => {
  it("may be cut into pieces at any byte", async () => {
    const bytes = Buffer.from(`${events["chat/completions"]}data: [DONE]\n\n`);
    upstream.script = streamOf([...bytes].map((byte) => Buffer.from([byte])));
    const answer = await stack.send("chat/completions", { model: "m", stream: true });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
  });

  it("may be an error as the first event: it is passed on", async () => {
    upstream.script = streamOf(['data: {"error":{"code":400,"message":"no"}}\n\n']);
    const answer = await stack.send("chat/completions", { model: "m", stream: true });
    expect(await answer.text()).toBe('data: {"error":{"code":400,"message":"no"}}\n\n');
  });

  it("may be one huge event", async () => {
    const event = `data: ${"x".repeat(20 * 1024 * 1024)}\n\n`;
    upstream.script = streamOf([event]);
    const answer = await stack.send("chat/completions", { model: "m", stream: true });
    expect((await answer.text()).length).toBe(event.length);
  });

  it("may end with the connection, where it has no length", async () => {
    upstream.script = (_request, socket) => {
      socket.end(`${headOf(200, { "content-type": "text/event-stream", connection: "close" })}data: 1\n\n`);
    };
    expect(await (await stack.send("chat/completions", { model: "m" })).text()).toBe("data: 1\n\n");
  });

  it("may be a reset where it has no length: that is not its end", async () => {
    const reset = (type: string) => {
      upstream.script = (_request, socket) => {
        const head = headOf(200, { "content-type": type, connection: "close" });
        socket.write(`${head}data: 1\n\n`, () => setTimeout(() => socket.resetAndDestroy(), 20));
      };
    };
    reset("text/event-stream");
    const text = await (await stack.send("messages", { model: "m", stream: true })).text();
    expect(text).toMatch(/^data: 1\n\nevent: error\ndata: /);
    reset("application/json");
    await expect(stack.send("messages", { model: "m" }).then((answer) => answer.text())).rejects.toThrow();
  });

  it("may be a reset right behind the head of a stream", async () => {
    upstream.script = (_request, socket) => {
      socket.write(streamHead, () => socket.resetAndDestroy());
    };
    const text = await (await stack.send("messages", { model: "m", stream: true })).text();
    expect(text).toMatch(/^event: error\ndata: /);
  });

  it("may be compressed and break: then nothing is written into it", async () => {
    upstream.script = (_request, socket) => {
      const head = headOf(200, {
        "content-type": "text/event-stream",
        "content-encoding": "gzip",
        "transfer-encoding": "chunked",
      });
      socket.write(Buffer.concat([Buffer.from(head), chunkOf(gzipSync("data: 1\n\n").subarray(0, 15))]), () =>
        socket.destroy(),
      );
    };
    await expect(stack.send("chat/completions", { model: "m" }).then((answer) => answer.text())).rejects.toThrow();
  });

  it.each([
    ["has not the length it announced", headOf(200, { "content-type": "application/json", "content-length": "100" })],
    ["is chunked and has no end", headOf(200, { "content-type": "application/json", "transfer-encoding": "chunked" })],
  ])("may be a whole answer that %s: the connection breaks for the client, too", async (_name, head) => {
    upstream.script = (_request, socket) => {
      const part = head.includes("chunked") ? chunkOf('{"half":') : Buffer.from('{"half":');
      socket.write(Buffer.concat([Buffer.from(head), part]), () => socket.destroy());
    };
    const answer = await stack.send("chat/completions", { model: "m" });
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
    const requestId = answer.headers.get("x-request-id");
    await expect.poll(stack.log).toMatch(new RegExp(`"status":502[^\\n]*"request_id":"${requestId}"`));
  });

  it("may be nothing: 204, or a body of no length", async () => {
    upstream.script = (_request, socket) => {
      socket.write(headOf(204, { "content-length": "5" }));
    };
    const { status, headers } = await stack.send("chat/completions", { model: "m" });
    expect([status, headers.get("content-length")]).toEqual([204, null]);
    upstream.script = (_request, socket) => {
      socket.write(headOf(200, { "content-length": "0" }));
    };
    expect(await (await stack.send("chat/completions", { model: "m" })).text()).toBe("");
  });

  it("may have hints ahead of it", async () => {
    upstream.script = (_request, socket) => {
      socket.write(`${headOf(103, { link: "</x>" })}${streamHead}`);
      socket.write(Buffer.concat([chunkOf("data: 1\n\n"), Buffer.from(lastChunk)]));
    };
    expect(await (await stack.send("chat/completions", { model: "m" })).text()).toBe("data: 1\n\n");
  });
});

describe("what an answer tells of its usage", () => {
  const tokens = (kind: string) => stack.metric("setpoint_inference_tokens_total", 'upstream="main"', `kind="${kind}"`);

  it.each<[string, DialectName, string[]]>([
    ["a whole answer", "chat/completions", ['{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5}}']],
    [
      "a chat stream",
      "chat/completions",
      [
        events["chat/completions"],
        'data: {"choices":[],"usage":{"prompt_tokens":3,"compl',
        'etion_tokens":5}}\n\n',
        "data: [DONE]\n\n",
      ],
    ],
    [
      "a messages stream",
      "messages",
      [
        'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}\n\n',
        ...Array<string>(500).fill(events.messages),
        'event: message_delta\ndata: {"type":"message_delta","delta":{},"usage":{"output_tokens":5}}\n\n',
      ],
    ],
    [
      "a responses stream",
      "responses",
      [
        'event: response.completed\ndata: {"response":{"usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":0},"output_tokens":5}}}\n\n',
      ],
    ],
  ])("is counted: %s", async (_name, dialect, pieces) => {
    const [input, output] = [await tokens("input"), await tokens("output")];
    upstream.script = streamOf(pieces);
    await (await stack.send(dialect, { model: "m" })).text();
    expect([await tokens("input"), await tokens("output")]).toEqual([input + 3, output + 5]);
  });
});
