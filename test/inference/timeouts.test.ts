import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  chunkOf,
  HostileUpstream,
  headOf,
  lastChunk,
  silence,
  streamBegun,
  streamHead,
} from "../support/hostile-upstream.ts";
import { chatRequestText, entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

/** Longer than a test may take, so that the end of a wait shows which timeout it was. */
const tooLongMs = 600_000;

let upstream: HostileUpstream;
let mute: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  mute = await HostileUpstream.start();
  mute.isDeaf = true;
  const at = (name: string, timeouts: object, to: { readonly url: string } = upstream) =>
    entryOf(to, { name, models: [name], timeouts });
  stack = await startInferenceStack({
    timeouts: {
      connect_ms: tooLongMs,
      first_byte_ms: tooLongMs,
      first_byte_streamed_ms: tooLongMs,
      between_chunks_ms: tooLongMs,
      client_read_ms: tooLongMs,
    },
    upstreams: [
      at("connect", { connect_ms: 300 }, { url: mute.url.replace("http:", "https:") }),
      at("first-streamed", { first_byte_streamed_ms: 300 }),
      at("first-whole", { first_byte_ms: 300 }),
      at("between", { between_chunks_ms: 300 }),
      at("all", { total_ms: 2_000 }),
      at("reader", { client_read_ms: 6_000, between_chunks_ms: 1_500 }),
    ],
  });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
  await mute.stop();
});

beforeEach(() => upstream.reset());

async function refusal(answer: Response) {
  return [answer.status, ((await answer.json()) as { error: { message: string } }).error.message];
}

describe("an upstream that exceeds its timeout", () => {
  it("for connecting returns 502", async () => {
    const answer = await stack.send("chat/completions", { model: "connect" });
    expect(await refusal(answer)).toEqual([502, expect.stringContaining("cannot be reached")]);
    expect(answer.headers.get("x-setpoint-upstream")).toBe("connect");
  });

  it.each([
    ["first-streamed", true],
    ["first-whole", false],
  ])("for the first byte returns 504 (%s)", async (model, stream) => {
    upstream.script = silence;
    const answer = await stack.send("chat/completions", { model, stream });
    expect(await refusal(answer)).toEqual([504, expect.stringContaining("did not answer in time")]);
    await upstream.last.closed;
    expect(upstream.received).toHaveLength(1);
  });

  it("for the first byte gets a different one if the answer is not streamed", async () => {
    upstream.script = async (_request, socket) => {
      await new Promise((resolve) => setTimeout(resolve, 900));
      socket.write(`${headOf(200, { "content-length": "2", "content-type": "application/json" })}{}`);
    };
    expect((await stack.send("chat/completions", { model: "first-streamed", stream: false })).status).toBe(200);
  });

  it("between two chunks ends the stream with an error", async () => {
    upstream.script = streamBegun("data: 1\n\n");
    const answer = await stack.send("messages", { model: "between", stream: true });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toMatch(/^data: 1\n\nevent: error\ndata: .*timeout_error.*stopped in the middle/);
    await upstream.last.closed;
  });

  it("for the whole answer ends the stream with an error, even while chunks arrive", async () => {
    upstream.script = async (_request, socket) => {
      socket.write(streamHead);
      while (!socket.destroyed) {
        socket.write(chunkOf("data: 1\n\n"));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const answer = await stack.send("chat/completions", { model: "all", stream: true });
    expect(await answer.text()).toContain("took too long");
    await upstream.last.closed;
  });
});

describe("a client that does not read", () => {
  it("pauses the upstream and is cut off eventually", async () => {
    const stalled = () => stack.metric("setpoint_inference_aborted_total", 'upstream="reader"', "client_stalled");
    const before = await stalled();
    const chunk = chunkOf(`data: ${"x".repeat(60_000)}\n\n`);
    let sentBytes = 0;
    upstream.script = (_request, socket) => {
      socket.write(streamHead);
      const more = () => {
        while (!socket.destroyed) {
          sentBytes += chunk.length;
          if (!socket.write(chunk)) break;
        }
        if (!socket.destroyed) socket.once("drain", more);
      };
      more();
    };
    const { port, hostname } = new URL(stack.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.pause();
    socket.write(chatRequestText(stack.apiKey, '{"model":"reader","stream":true}'));
    await expect.poll(() => upstream.received.length).toBe(1);
    await upstream.last.closed;
    await expect.poll(stalled).toBe(before + 1);
    // What the network buffers hold on both sides, and no more.
    expect(sentBytes).toBeLessThan(40 * 1024 * 1024);
    socket.destroy();
  });

  it("may pause for longer than the upstream's chunk timeout", async () => {
    const pieces = 200;
    upstream.script = async (_request, socket) => {
      socket.write(streamHead);
      for (let index = 0; index < pieces; index++) {
        if (!socket.write(chunkOf(`data: ${"x".repeat(100_000)}\n\n`))) {
          await new Promise((resolve) => socket.once("drain", resolve));
        }
      }
      socket.write(lastChunk);
    };
    const answer = await stack.send("chat/completions", { model: "reader", stream: true });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    let bytes = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length;
    expect(bytes).toBe(pieces * ("data: ".length + 100_000 + 2));
  });
});
