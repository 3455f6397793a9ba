import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answerWith, HostileUpstream, lastChunk, silence, streamBegun } from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

const mebibyte = 1024 * 1024;
let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({ upstreams: [entryOf(upstream, { timeouts: { first_byte_ms: 4_500 } })] });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

beforeEach(() => upstream.reset());

function bodyOf(bytes: number): string {
  const rest = '{"model":"m","text":""}'.length;
  return `{"model":"m","text":"${"x".repeat(bytes - rest)}"}`;
}

const bytesInFlight = () => stack.metric("setpoint_inflight_bytes");

describe("a body of the maximum size", () => {
  it("arrives complete", async () => {
    const body = bodyOf(32 * mebibyte);
    expect((await stack.send("chat/completions", body)).status).toBe(200);
    expect(upstream.last.bodyBytes).toBe(body.length);
    expect(upstream.last.headers["content-length"]).toBe(String(body.length));
    expect(upstream.last.headers["transfer-encoding"]).toBeUndefined();
    expect(upstream.last.body() === body).toBe(true);
  });

  it("plus one byte returns 413", async () => {
    expect((await stack.send("chat/completions", bodyOf(32 * mebibyte + 1))).status).toBe(413);
    expect(upstream.received).toEqual([]);
  });

  it("may be read slowly, because the first-byte timeout starts when it is sent", async () => {
    upstream.atHead = async (_request, socket) => {
      // Longer than the first-byte timeout.
      for (let pause = 0; pause < 10; pause++) {
        socket.pause();
        await new Promise((resolve) => setTimeout(resolve, 500));
        socket.resume();
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };
    expect((await stack.send("chat/completions", bodyOf(31 * mebibyte))).status).toBe(200);
    expect(upstream.last.bodyBytes).toBe(31 * mebibyte);
  });

  it("frees its memory quota as soon as its answer starts", async () => {
    upstream.script = streamBegun("data: 1\n\n");
    const answers = [];
    // Four times what one key may have in flight.
    for (let index = 0; index < 4; index++) answers.push(await stack.send("chat/completions", bodyOf(31 * mebibyte)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await expect.poll(bytesInFlight).toBe(4 * 4096);
    for (const { socket } of upstream.received) socket.write(lastChunk);
    await Promise.all(answers.map((answer) => answer.text()));
    await expect.poll(bytesInFlight).toBe(0);
  });

  it("frees its memory quota once it is sent, if its answer starts before", async () => {
    upstream.atHead = (request, socket) => void streamBegun("data: 1\n\n")(request, socket);
    upstream.script = silence;
    const answer = await stack.send("chat/completions", bodyOf(31 * mebibyte));
    await expect.poll(bytesInFlight).toBe(4096);
    upstream.last.socket.write(lastChunk);
    await answer.text();
    await expect.poll(bytesInFlight).toBe(0);
  });

  it("rejected by the upstream before it is sent gets that answer, and the connection is closed", async () => {
    upstream.atHead = (request, socket) => {
      socket.pause();
      void answerWith(413, '{"too":"large"}')(request, socket);
    };
    const answer = await stack.send("chat/completions", bodyOf(31 * mebibyte));
    expect([answer.status, await answer.text()]).toEqual([413, '{"too":"large"}']);
    upstream.last.socket.resume();
    await upstream.last.closed;
    await expect.poll(bytesInFlight).toBe(0);
    upstream.atHead = undefined;
    expect((await stack.send("chat/completions", { model: "m" })).status).toBe(200);
  });
});
