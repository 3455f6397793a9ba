import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CallName } from "../../gateway/inference/calls.ts";
import { idToBytes } from "../../services/platform/domain/ids.ts";
import {
  answerWith,
  HostileUpstream,
  type Script,
  silence,
  streamBroken,
  streamOf,
} from "../support/hostile-upstream.ts";
import { chatRequestText, entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";
import { linesOf } from "../support/log-lines.ts";

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({
    upstreams: [
      entryOf({ url: "http://127.0.0.1:9" }, { name: "gone", models: ["gone"] }),
      entryOf(upstream, { name: "main", models: ["*"] }),
    ],
  });
  await stack.create("bot", { model: "small", messages: [] });
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

const usage = { prompt_tokens: 12, completion_tokens: 3 };
const whole = answerWith(200, JSON.stringify({ usage }));

async function lineFor(script: Script, body: object, call: CallName = "chat/completions") {
  upstream.script = script;
  const answer = await stack.send(call, body);
  await answer.text().catch(() => {});
  const [line] = await linesOf(stack, answer.headers.get("x-request-id"));
  return line;
}

describe("the log line of an inference request", () => {
  it("says which preset, model and upstream it used, and what that took", async () => {
    expect(await lineFor(whole, { model: "@preset/bot" })).toMatchObject({
      status: 200,
      key_id: expect.any(String),
      preset: "bot@1",
      model: "small",
      upstream: "main",
      first_byte_ms: expect.any(Number),
      input_tokens: 12,
      output_tokens: 3,
    });
  });

  it("says the tokens of a stream", async () => {
    const stream = streamOf([`data: ${JSON.stringify({ usage })}\n\n`, "data: [DONE]\n\n"], { gapMs: 5 });
    const line = await lineFor(stream, { model: "small", stream: true });
    expect(line).toMatchObject({ model: "small", upstream: "main", input_tokens: 12, output_tokens: 3 });
    expect(line).not.toHaveProperty("preset");
  });

  it("names the upstream of an answer that broke off", async () => {
    const line = await lineFor(streamBroken("data: {}\n\n"), { model: "small", stream: true });
    expect(line).toMatchObject({ status: 502, model: "small", upstream: "main", first_byte_ms: expect.any(Number) });
    expect(line).not.toHaveProperty("input_tokens");
  });

  it("names the upstream that could not be reached", async () => {
    const line = await lineFor(whole, { model: "gone" });
    expect(line).toMatchObject({ status: 502, model: "gone", upstream: "gone" });
    expect(line).not.toHaveProperty("first_byte_ms");
  });

  it("names the model and upstream of a list that answered", async () => {
    const line = await lineFor(whole, { models: ["gone", "small"] });
    expect(line).toMatchObject({ status: 200, model: "small", upstream: "main" });
  });

  it("names the upstream of a request whose client left", async () => {
    upstream.reset();
    upstream.script = silence;
    const requestId = "a-client-that-leaves";
    const leaving = new AbortController();
    const sent = stack.send(
      "messages",
      { model: "small" },
      { signal: leaving.signal, headers: { "x-request-id": requestId } },
    );
    await expect.poll(() => upstream.received.length).toBeGreaterThan(0);
    leaving.abort();
    await expect(sent).rejects.toThrow();
    expect(await linesOf(stack, requestId)).toMatchObject([{ status: 499, model: "small", upstream: "main" }]);
  });

  it("names the upstream of a request whose client resets a connection that it has used before", async () => {
    upstream.reset();
    upstream.script = whole;
    const { port, hostname } = new URL(stack.baseUrl);
    const client = connect(Number(port), hostname);
    let received = "";
    client.on("data", (data) => {
      received += data;
    });
    client.write(chatRequestText(stack.apiKey, '{"model":"small"}'));
    await expect.poll(() => received).toContain("prompt_tokens");
    upstream.script = silence;
    const requestId = "a-client-that-resets";
    const second = chatRequestText(stack.apiKey, '{"models":["gone","small"]}');
    client.write(second.replace("host: test", `host: test\r\nx-request-id: ${requestId}`));
    await expect.poll(() => upstream.received.length).toBe(2);
    client.resetAndDestroy();
    expect(await linesOf(stack, requestId)).toMatchObject([{ status: 499, model: "small", upstream: "main" }]);
  });

  it.each([
    ["too long", "m".repeat(201)],
    ["a key", "sk-sp-v1-secret"],
    ["a sentence", "Tell me a joke"],
  ])("does not show a model whose name is %s", async (_what, model) => {
    expect(await lineFor(whole, { model })).toMatchObject({ status: 200, model: "unknown" });
  });

  it("does not show a slug that is a key, as presets of earlier releases may have", async () => {
    const slug = "sk-sp-v1-secret";
    await stack.create("renamed", { model: "small", messages: [] });
    await stack.presetPool.query("UPDATE presets SET slug = ? WHERE workspace_id = ? AND slug = 'renamed'", [
      slug,
      idToBytes(stack.workspaceId),
    ]);
    const line = await lineFor(whole, { model: `@preset/${slug}` });
    expect(line).toMatchObject({ status: 200, preset: "unknown@1", model: "small" });
    expect(stack.log()).not.toContain(slug);
  });

  it("says nothing of a model that nobody was asked for", async () => {
    const line = await lineFor(whole, { model: "@preset/none" });
    expect(line).toMatchObject({ status: 404, key_id: expect.any(String) });
    expect(line).not.toHaveProperty("model");
  });
});
