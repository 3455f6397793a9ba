import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { dialectNames } from "../../gateway/dialects/dialect-name.ts";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import { type Collector, type ReceivedSpan, startCollector } from "../support/collector.ts";
import {
  answerWith,
  chunkOf,
  HostileUpstream,
  streamBegun,
  streamHead,
  streamOf,
} from "../support/hostile-upstream.ts";
import { type InferenceStack, startInferenceStack } from "../support/inference.ts";

const secrets = ["secret-of-the-operator", "secret prompt", "secret answer", "secret system"];

let collector: Collector;
let upstream: HostileUpstream;
let stack: InferenceStack;
let traceCount = 0;

beforeAll(async () => {
  process.env.TEST_UPSTREAM_KEY = "secret-of-the-operator";
  [collector, upstream] = await Promise.all([startCollector(), HostileUpstream.start()]);
  const credential = { header: "authorization", prefix: "Bearer ", env: "TEST_UPSTREAM_KEY" };
  const shared = { base_url: upstream.url, dialects: dialectNames, credential };
  const { traces } = collector;
  stack = await startInferenceStack(
    {
      upstreams: [
        { ...shared, name: "openai", models: ["openai/*"], strip_prefix: "openai/" },
        { ...shared, name: "fixed", models: ["fixed/*"], headers: { traceparent: "the operator's" } },
        { ...shared, name: "nowhere", base_url: "http://127.0.0.1:1/v1", models: ["nowhere/*"] },
      ],
    },
    { gateway: { traces }, preset: { traces }, organization: { traces } },
  );
  const messages = [{ role: "system", content: "secret system" }];
  await stack.create("writer", { model: "openai/gpt", messages, temperature: 0.5 });
});

afterAll(async () => {
  delete process.env.TEST_UPSTREAM_KEY;
  await stack.close();
  await upstream.stop();
  collector.close();
});

beforeEach(() => upstream.reset());

function newTrace(): { readonly traceId: string; readonly traceparent: string } {
  traceCount += 1;
  const traceId = traceCount.toString(16).padStart(32, "b");
  return { traceId, traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
}

const messages = [{ role: "user", content: "secret prompt" }];
const usage = '"usage":{"prompt_tokens":12,"completion_tokens":34}';
const completion = `{"id":"1","model":"gpt-4o-2024","choices":[{"message":{"content":"secret answer"}}],${usage}}`;

/** The spans of upstream calls in a trace, once its request has ended. */
async function upstreamCalls(traceId: string, route = "POST /api/v1/chat/completions"): Promise<ReceivedSpan[]> {
  await collector.spanOf(traceId, route);
  return collector.spans.filter((span) => span.traceId === traceId && span.name.startsWith("chat "));
}

describe("an upstream call", () => {
  it("is recorded with GenAI attributes and the preset, and the trace context is sent upstream", async () => {
    upstream.script = answerWith(200, completion);
    const { traceId, traceparent } = newTrace();
    const headers = { traceparent, tracestate: "vendor=1", "x-request-id": "inference-1" };
    const answer = await stack.send("chat/completions", { model: "@preset/writer", messages }, { headers });
    expect(await answer.text()).toBe(completion);
    const request = await collector.spanOf(traceId, "POST /api/v1/chat/completions");
    const [call, ...others] = await upstreamCalls(traceId);
    expect(others).toEqual([]);
    expect(call).toMatchObject({ name: "chat gpt", kind: 3, parentSpanId: request.spanId, isError: false });
    expect(call?.attributes).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt",
      "gen_ai.response.model": "gpt-4o-2024",
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 34,
      "http.response.status_code": 200,
      "server.address": "127.0.0.1",
      "setpoint.preset.slug": "writer",
      "setpoint.preset.version": 1,
      "setpoint.request_id": "inference-1",
    });
    expect(upstream.last.headers).toMatchObject({
      traceparent: `00-${traceId}-${call?.spanId}-01`,
      tracestate: "vendor=1",
    });
  });

  it("does not show a slug that is a key, as presets of earlier releases may have", async () => {
    const slug = "sk-sp-v1-secret";
    await stack.create("renamed", { model: "openai/gpt", messages: [] });
    await stack.presetPool.query("UPDATE presets SET slug = ? WHERE workspace_id = ? AND slug = 'renamed'", [
      slug,
      idToBytes(stack.workspaceId),
    ]);
    upstream.script = answerWith(200, completion);
    const { traceId, traceparent } = newTrace();
    const body = { model: `@preset/${slug}`, messages };
    await (await stack.send("chat/completions", body, { headers: { traceparent } })).text();
    const [call] = await upstreamCalls(traceId);
    expect(call?.attributes).toMatchObject({ "setpoint.preset.slug": "unknown", "setpoint.preset.version": 1 });
  });

  it("that counts tokens is named after that", async () => {
    upstream.script = answerWith(200, '{"input_tokens":9}');
    const { traceId, traceparent } = newTrace();
    const body = { model: "@preset/writer", messages };
    await (await stack.send("messages/count_tokens", body, { headers: { traceparent } })).text();
    await collector.spanOf(traceId, "POST /api/v1/messages/count_tokens");
    const { attributes } = await collector.spanOf(traceId, "count_tokens gpt");
    expect(attributes).toMatchObject({ "gen_ai.operation.name": "count_tokens", "setpoint.preset.slug": "writer" });
  });

  it.each([
    [
      "chat/completions",
      [
        'data: {"model":"gpt-4o","choices":[{"delta":{"content":"secret answer"}}]}\n\n',
        `data: {"model":"gpt-4o",${usage}}\n\n`,
      ],
    ],
    [
      "messages",
      [
        'event: message_start\ndata: {"type":"message_start","message":{"model":"gpt-4o","usage":{"input_tokens":12}}}\n\n',
        'event: content_block_delta\ndata: {"delta":{"text":"secret answer"}}\n\n',
        'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":34}}\n\n',
      ],
    ],
    [
      "messages",
      [
        ": processing\n\n",
        'event: message_start\ndata: {"type":"message_start","message":{"model":"gpt-4o","usage":{"input_tokens":12}}}\n\n',
        `event: content_block_delta\ndata: {"delta":{"text":"${"x".repeat(5_000)}"}}\n\n`,
        'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":34}}\n\n',
      ],
    ],
    [
      "responses",
      [
        'event: response.created\ndata: {"type":"response.created","response":{"model":"gpt-4o"}}\n\n',
        'event: response.completed\ndata: {"response":{"model":"gpt-4o","usage":{"input_tokens":12,"output_tokens":34}}}\n\n',
      ],
    ],
  ] as const)("that streams records model and tokens, in %s", async (dialect, pieces) => {
    upstream.script = streamOf(pieces, { gapMs: 20 });
    const { traceId, traceparent } = newTrace();
    const body = { model: "openai/gpt", stream: true, messages };
    await (await stack.send(dialect, body, { headers: { traceparent } })).text();
    const [call] = await upstreamCalls(traceId, `POST /api/v1/${dialect}`);
    expect(call?.attributes).toMatchObject({
      "gen_ai.response.model": "gpt-4o",
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 34,
    });
  });

  it("is recorded as one span per attempt, with the reason of failure", async () => {
    upstream.next.push(answerWith(503, "{}", { "retry-after": "0" }));
    upstream.script = answerWith(200, completion);
    const { traceId, traceparent } = newTrace();
    await (
      await stack.send("chat/completions", { model: "openai/gpt", messages }, { headers: { traceparent } })
    ).text();
    const calls = await upstreamCalls(traceId);
    expect(calls.map(({ attributes }) => attributes["error.type"])).toEqual(["refused", undefined]);
    expect(upstream.received.map(({ headers }) => headers.traceparent)).toEqual(
      calls.map(({ spanId }) => `00-${traceId}-${spanId}-01`),
    );
  });

  it("records an upstream's error and an unreachable upstream", async () => {
    upstream.script = answerWith(400, '{"error":"secret answer"}');
    const refused = newTrace();
    await (await stack.send("chat/completions", { model: "openai/gpt", messages }, { headers: refused })).text();
    const [call] = await upstreamCalls(refused.traceId);
    expect(call).toMatchObject({
      isError: true,
      attributes: { "error.type": "400", "http.response.status_code": 400 },
    });

    const unreachable = newTrace();
    await (await stack.send("chat/completions", { model: "nowhere/m", messages }, { headers: unreachable })).text();
    const calls = await upstreamCalls(unreachable.traceId);
    expect(calls.map(({ attributes }) => attributes["error.type"])).toEqual(["unreachable", "unreachable"]);
  });

  it("ends when the client disconnects and when the answer breaks off", async () => {
    upstream.script = streamBegun("data: {}\n\n");
    const left = newTrace();
    const controller = new AbortController();
    const body = { model: "openai/gpt", stream: true, messages };
    const answer = await stack.send("chat/completions", body, { headers: left, signal: controller.signal });
    await answer.body?.getReader().read();
    controller.abort();
    expect((await upstreamCalls(left.traceId))[0]?.attributes).toMatchObject({ "error.type": "client_gone" });

    upstream.script = (_request, socket) => {
      socket.write(Buffer.concat([Buffer.from(streamHead), chunkOf('data: {"model":"gpt-4o"}\n\n')]));
      setTimeout(() => socket.destroy(), 50);
    };
    const broken = newTrace();
    await (await stack.send("chat/completions", body, { headers: broken })).text();
    expect((await upstreamCalls(broken.traceId))[0]?.attributes).toMatchObject({
      "error.type": "broken",
      "gen_ai.response.model": "gpt-4o",
    });
    const line = stack
      .log()
      .split("\n")
      .find((each) => each.includes("answer broke off") && each.includes(broken.traceId));
    expect(line).toBeDefined();
  });

  it("keeps the operator's own traceparent header", async () => {
    await (await stack.send("chat/completions", { model: "fixed/m", messages }, { headers: newTrace() })).text();
    expect(upstream.last.headers.traceparent).toBe("the operator's");
  });

  it("exports no prompt, answer, key or credential", async () => {
    const { traceId, traceparent } = newTrace();
    const model = `openai/${stack.apiKey}`;
    await (await stack.send("chat/completions", { model, messages }, { headers: { traceparent } })).text();
    const [call] = await upstreamCalls(traceId);
    expect(call?.attributes["gen_ai.request.model"]).toBe("unknown");
    const text = collector.text();
    for (const secret of [...secrets, stack.apiKey, "eyJ"]) expect(text).not.toContain(secret);
  });
});
