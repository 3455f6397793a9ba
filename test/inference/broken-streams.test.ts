import { gzipSync } from "node:zlib";
import Anthropic from "@anthropic-ai/sdk";
import { ChatStreamChunk$inboundSchema } from "@openrouter/sdk/models/chatstreamchunk.js";
import { ErrorEvent$inboundSchema } from "@openrouter/sdk/models/errorevent.js";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type DialectName, dialectNames } from "../../gateway/dialects/dialect-name.ts";
import {
  chunkOf,
  HostileUpstream,
  headOf,
  lastChunk,
  streamBegun,
  streamBroken,
  streamHead,
  streamOf,
} from "../support/hostile-upstream.ts";
import { chatRequestText, entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";
import { RawConnection } from "../support/raw-connection.ts";

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({ upstreams: [entryOf(upstream)] });
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

/** What a client reads from a stream: its events, each of which ends with a blank line. */
function eventsOf(text: string): { event: string; data: string }[] {
  return text
    .replaceAll(/\r\n?/g, "\n")
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

/** Sends an event and the first bytes of a second one; then the connection ends. */
function breakAfter(dialect: DialectName, bytes: number, lineEnd = "\n"): void {
  const event = Buffer.from(events[dialect].replaceAll("\n", lineEnd));
  upstream.script = streamBroken(Buffer.concat([event, event.subarray(0, bytes)]));
}

describe.each(dialectNames)("a %s stream that breaks", (dialect) => {
  /** In a field name, before and after its colon, in its value, in a character, and in the blank line. */
  const length = Buffer.byteLength(events[dialect]);
  const places = [0, 1, 4, 5, 6, 20, events[dialect].indexOf("é") + 1, length - 2, length - 1].flatMap((bytes) => [
    [bytes, "LF", "\n"] as const,
    [bytes, "CR", "\r"] as const,
    [bytes, "CR LF", "\r\n"] as const,
  ]);

  it.each(places)(
    "ends with a separate error event, wherever it broke (%i bytes, %s)",
    async (bytes, _name, lineEnd) => {
      breakAfter(dialect, bytes, lineEnd);
      const answer = await stack.send(dialect, { model: "m", stream: true });
      expect(answer.status).toBe(200);
      const received = eventsOf(await answer.text());
      // And nothing of the incomplete event.
      expect(received).toEqual([eventsOf(events[dialect])[0], expect.anything()]);
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
        expect(data).toEqual({ type: "error", code: "server_error", message, param: null, sequence_number: 42 });
        expect(ErrorEvent$inboundSchema.safeParse(data).error).toBeUndefined();
      }
    },
  );

  it("is complete if that was after its last event", async () => {
    const lastEvents = {
      "chat/completions": 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1}}\n\ndata: [DONE]\n\n',
      messages: 'event: message_stop\ndata: {"type":"message_stop","usage":{"input_tokens":7,"output_tokens":1}}\n\n',
      responses: `event: response.completed\ndata: {"type":"response.completed","response":{"instructions":"${"x".repeat(9_000)}","usage":{"input_tokens":7,"output_tokens":1}}}\n\n`,
    };
    const whole = events[dialect] + lastEvents[dialect];
    upstream.script = streamBroken(whole);
    const answer = await stack.send(dialect, { model: "m", stream: true });
    expect(await answer.text()).toBe(whole);
    const requestId = answer.headers.get("x-request-id");
    const logged = new RegExp(
      `"status":200[^\\n]*"request_id":"${requestId}"[^\\n]*"input_tokens":7,"output_tokens":1`,
    );
    await expect.poll(stack.log).toMatch(logged);
  });

  it("is logged as broken off", async () => {
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

describe("third-party clients", () => {
  const options = () => ({ apiKey: stack.apiKey, maxRetries: 0 });

  it.each([0, 30])("throw the gateway's error: openai, chat and responses (%i bytes)", async (bytes) => {
    const openai = new OpenAI({ ...options(), baseURL: `${stack.baseUrl}/api/v1` });
    breakAfter("chat/completions", bytes);
    const chat = await openai.chat.completions.create({ model: "m", messages: [], stream: true });
    await expect(readToEnd(chat)).rejects.toThrow("The upstream main broke off its answer.");
    breakAfter("responses", bytes);
    const responses = await openai.responses.create({ model: "m", input: "", stream: true });
    await expect(readToEnd(responses)).rejects.toThrow("The upstream main broke off its answer.");
  });

  it.each([0, 60])("throw the gateway's error: anthropic (%i bytes)", async (bytes) => {
    const anthropic = new Anthropic({ ...options(), baseURL: `${stack.baseUrl}/api` });
    breakAfter("messages", bytes);
    const stream = await anthropic.messages.create({ model: "m", max_tokens: 1, messages: [], stream: true });
    await expect(readToEnd(stream)).rejects.toThrow("The upstream main broke off its answer.");
  });
});

describe("an upstream answer", () => {
  it("is passed on intact if split at every byte", async () => {
    const bytes = Buffer.from(`${events["chat/completions"]}data: [DONE]\n\n`);
    upstream.script = streamOf([...bytes].map((byte) => Buffer.from([byte])));
    const answer = await stack.send("chat/completions", { model: "m", stream: true });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
  });

  it("is passed on if its first event is an error", async () => {
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

  it("that breaks in the middle of a huge event ends with a separate error event", async () => {
    upstream.script = streamBroken(`data: ${"x".repeat(1024 * 1024)}`);
    const received = eventsOf(await (await stack.send("messages", { model: "m", stream: true })).text());
    expect(received.map(({ event }) => event)).toEqual(["", "error"]);
    expect(JSON.parse(received[1]?.data ?? "")).toMatchObject({ type: "error" });
  });

  it("that breaks before its announced length ends with an error event", async () => {
    upstream.script = (_request, socket) => {
      const head = headOf(200, { "content-type": "text/event-stream", "content-length": "100" });
      socket.write(`${head}data: 1\n\nda`, () => socket.destroy());
    };
    const answer = await stack.send("messages", { model: "m", stream: true });
    expect(answer.headers.get("content-length")).toBeNull();
    expect(await answer.text()).toMatch(/^data: 1\n\nevent: error\ndata: \{.*\}\n\n$/);
  });

  it("is passed on as it is with comments, unterminated events and no [DONE]", async () => {
    const pieces = [": ping\n", "\n", 'data: {"a":', "1}\r\n", "\r\n", ": ping\r\n\r\n", "data: 2\r\r", "data: 3\n"];
    upstream.script = streamOf(pieces, { gapMs: 10 });
    const answer = await stack.send("chat/completions", { model: "m", stream: true });
    expect(await answer.text()).toBe(pieces.join(""));
  });

  it("has keep-alive comments passed on at once", async () => {
    upstream.script = streamBegun("data: 1\n\n: ping\n");
    const answer = await stack.send("chat/completions", { model: "m", stream: true });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect(Buffer.from((await reader.read()).value as Uint8Array).toString()).toBe("data: 1\n\n: ping\n");
    await reader.cancel();
  });

  it("without a length may end with the connection", async () => {
    upstream.script = (_request, socket) => {
      socket.end(`${headOf(200, { "content-type": "text/event-stream", connection: "close" })}data: 1\n\n`);
    };
    expect(await (await stack.send("chat/completions", { model: "m" })).text()).toBe("data: 1\n\n");
  });

  it("without a length is broken, not complete, if the connection is reset", async () => {
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

  it("that is reset right after the head of a stream ends with an error event", async () => {
    upstream.script = (_request, socket) => {
      socket.write(streamHead, () => socket.resetAndDestroy());
    };
    const text = await (await stack.send("messages", { model: "m", stream: true })).text();
    expect(text).toMatch(/^event: error\ndata: /);
  });

  it("that is compressed and breaks gets nothing written into it", async () => {
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

  it.each(["none", "identity", ""])("that claims the encoding %j and breaks ends with an error event", async (name) => {
    const head = streamHead.replace("\r\n", `\r\ncontent-encoding: ${name}\r\n`);
    upstream.script = (_request, socket) => {
      socket.write(Buffer.concat([Buffer.from(head), chunkOf("data: 1\n\ndata: hal")]), () => socket.destroy());
    };
    const text = await (await stack.send("messages", { model: "m", stream: true })).text();
    expect(text).toMatch(/^data: 1\n\nevent: error\ndata: /);
  });

  it.each([
    ["is shorter than announced", headOf(200, { "content-type": "application/json", "content-length": "100" })],
    ["is chunked and never ends", headOf(200, { "content-type": "application/json", "transfer-encoding": "chunked" })],
  ])("that %s breaks the client's connection", async (_name, head) => {
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

  it("that breaks is reset for a client of HTTP/1.0, to which a closed connection means that it is complete", async () => {
    upstream.script = (_request, socket) => {
      const head = headOf(200, { "content-type": "application/json", "transfer-encoding": "chunked" });
      socket.write(Buffer.concat([Buffer.from(head), chunkOf('{"half":')]));
    };
    const connection = await RawConnection.open(stack.baseUrl);
    connection.send(chatRequestText(stack.apiKey, '{"model":"m"}').replace("HTTP/1.1", "HTTP/1.0"));
    await expect.poll(() => connection.received).toMatch(/\{"half":$/);
    upstream.last.socket.destroy();
    await expect.poll(() => connection.wasReset).toBe(true);
  });

  it("may be empty: 204 or content-length 0", async () => {
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

  it.each<[string, string]>([
    ["hints", headOf(103, { link: "</x>" })],
    ["an unsolicited 100 Continue", headOf(100)],
    ["a 102 Processing", headOf(102)],
    [
      "several interim answers",
      headOf(103, { link: "</x>" }) + headOf(100) + headOf(102) + headOf(100, { date: "now" }),
    ],
  ])("may follow %s, split anywhere", async (_name, interim) => {
    const bytes = Buffer.concat([Buffer.from(interim + streamHead), chunkOf("data: 1\n\n"), Buffer.from(lastChunk)]);
    const cuts = [interim.length, 1, 12, 13, interim.length - 1, interim.length + 5];
    for (const cut of cuts) {
      upstream.script = (_request, socket) => {
        socket.write(bytes.subarray(0, cut));
        setTimeout(() => socket.write(bytes.subarray(cut)), 20);
      };
      expect(await (await stack.send("chat/completions", { model: "m" })).text(), `cut at ${cut}`).toBe("data: 1\n\n");
    }
    upstream.script = (_request, socket) => {
      socket.write(bytes);
    };
    // The connection is usable again after a pause.
    await expect
      .poll(async () => {
        expect(await (await stack.send("chat/completions", { model: "m" })).text()).toBe("data: 1\n\n");
        return upstream.last.earlierOnConnection;
      })
      .toBeGreaterThan(0);
  });

  it("may follow 100 Continue while the body is still being sent", async () => {
    upstream.atHead = (_request, socket) => {
      socket.write(headOf(100));
    };
    const answer = await stack.send("chat/completions", { model: "m", input: "x".repeat(1024 * 1024) });
    expect([answer.status, await answer.text()]).toEqual([200, '{"ok":true}']);
  });

  it("may have a body that looks like 100 Continue", async () => {
    const body = headOf(100);
    upstream.script = (_request, socket) => {
      socket.write(headOf(200, { "content-length": String(body.length) }));
      setTimeout(() => socket.write(body), 20);
    };
    expect(await (await stack.send("chat/completions", { model: "m" })).text()).toBe(body);
  });
});

describe("token usage", () => {
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
      "a chat stream whose lines end with CR",
      "chat/completions",
      [
        'data: {"choices":[]}\r\rdata: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5}}\r',
        "\rdata: [DONE]\r\r",
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
      "a short messages stream in one piece",
      "messages",
      [
        [
          'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}',
          'event: message_delta\ndata: {"type":"message_delta","delta":{},"usage":{"output_tokens":5}}\n\n',
        ].join("\n\n"),
      ],
    ],
    [
      "a long messages stream in one piece",
      "messages",
      [
        [
          'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}',
          `event: content_block_delta\ndata: {"delta":{"text":"${"x".repeat(5_000)}"}}`,
          'event: message_delta\ndata: {"type":"message_delta","delta":{},"usage":{"output_tokens":5}}\n\n',
        ].join("\n\n"),
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
