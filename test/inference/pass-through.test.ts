import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { dialectNames } from "../../gateway/dialects/dialect-name.ts";
import { answerWith, chunkOf, HostileUpstream, lastChunk, silence, streamBegun } from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

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

describe.each(dialectNames)("a request to /%s without a preset", (dialect) => {
  it("is forwarded byte for byte, and so is its answer", async () => {
    const body = '{ "model":"vendor/model", "temperature":1.0, "n": 12345678901234567890, "text":"é🙂" }';
    upstream.script = answerWith(200, '{ "answer": 1.0 }');
    const answer = await stack.send(dialect, body);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('{ "answer": 1.0 }');
    expect(upstream.last.body()).toBe(body);
    expect(upstream.last.requestLine).toBe(`POST /v1/${dialect} HTTP/1.1`);
    expect(answer.headers.get("x-setpoint-upstream")).toBe("main");
    expect(answer.headers.get("x-request-id")).toMatch(/./);
  });

  it("is streamed chunk by chunk", async () => {
    upstream.script = streamBegun("data: 1\n\n");
    const answer = await stack.send(dialect, { model: "m", stream: true });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.headers.get("x-accel-buffering")).toBe("no");
    const reader = (answer.body as ReadableStream).pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe("data: 1\n\n");
    upstream.last.socket.write(Buffer.concat([chunkOf("data: 2\n\n"), Buffer.from(lastChunk)]));
    expect((await reader.read()).value).toBe("data: 2\n\n");
    expect((await reader.read()).done).toBe(true);
  });

  it("is aborted when its client disconnects", async () => {
    upstream.script = silence;
    const abort = new AbortController();
    const answer = stack.send(dialect, { model: "m" }, { signal: abort.signal });
    await expect.poll(() => upstream.received.length).toBe(1);
    abort.abort();
    await expect(answer).rejects.toThrow();
    await upstream.last.closed;
  });
});
