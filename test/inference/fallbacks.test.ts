import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { freshName } from "../support/fresh-name.ts";
import { answerWith, HostileUpstream, type Script, silence, streamBroken } from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

let first: HostileUpstream;
let second: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  [first, second] = await Promise.all([HostileUpstream.start(), HostileUpstream.start()]);
  const at = (name: string, upstream: { readonly url: string }, more: object = {}) =>
    entryOf(upstream, { name, models: [`${name}/*`], strip_prefix: `${name}/`, ...more });
  stack = await startInferenceStack({
    upstreams: [
      at("a", first, { timeouts: { first_byte_ms: 300 }, concurrency_max: 1 }),
      at("b", second),
      at("native", first, { fallbacks: "native", strip_prefix: undefined }),
      at("stripped", first, { fallbacks: "native" }),
      at("gone", { url: "http://127.0.0.1:9" }),
    ],
  });
});

afterAll(async () => {
  await stack.close();
  await Promise.all([first.stop(), second.stop()]);
});

beforeEach(() => {
  first.reset();
  second.reset();
});

const closes: Script = (_request, socket) => {
  socket.destroy();
};

describe("a list of models", () => {
  it.each<[string, Script]>([
    ["refuses", answerWith(429, "{}")],
    ["fails", answerWith(500, "{}")],
    ["does not know the model", answerWith(404, "{}")],
    ["demands payment", answerWith(402, "{}")],
    ["gives up on the request", answerWith(408, "{}")],
    ["breaks the connection", closes],
    ["does not answer", silence],
    ["redirects", answerWith(302, "")],
  ])("is tried in order if the first %s", async (_name, script) => {
    first.script = script;
    second.script = answerWith(200, '{"from":"b"}');
    const answer = await stack.send("chat/completions", { models: ["a/x", "b/y"], temperature: 1 });
    expect([answer.status, await answer.text()]).toEqual([200, '{"from":"b"}']);
    expect(answer.headers.get("x-setpoint-upstream")).toBe("b");
    expect(first.last.body()).toBe('{"temperature":1,"model":"x"}');
    expect(second.last.body()).toBe('{"temperature":1,"model":"y"}');
  });

  it("starts with the request's model, and skips models that no upstream serves", async () => {
    first.script = answerWith(503, "{}");
    const answer = await stack.send("messages", { model: "gone/z", models: ["none/1", "gone/z", "a/x", "b/y"] });
    expect(answer.status).toBe(200);
    expect([first.received.length, second.received.length]).toEqual([1, 1]);
  });

  it("is retried per model if a reused connection was closed", async () => {
    const request = { models: ["gone/x", "b/y"] };
    expect((await stack.send("chat/completions", request)).status).toBe(200);
    second.next.push(closes);
    expect((await stack.send("chat/completions", request)).status).toBe(200);
    expect(second.received.map(({ earlierOnConnection }) => earlierOnConnection > 0).slice(1)).toEqual([true, false]);
  });

  it("moves on if the first upstream is at its concurrency limit", async () => {
    first.script = silence;
    const held = stack.send("chat/completions", { model: "a/x" });
    await expect.poll(() => first.received.length).toBe(1);
    expect((await stack.send("chat/completions", { models: ["a/x", "b/y"] })).headers.get("x-setpoint-upstream")).toBe(
      "b",
    );
    await held;
  });

  it("names the model in use if its answer breaks off", async () => {
    first.script = answerWith(500, "{}");
    second.script = streamBroken("data: 1\n\n");
    const answer = await stack.send("chat/completions", { models: ["a/x", "b/y"], stream: true });
    expect(await answer.text()).toMatch(/^data: 1\n\ndata: \{[^\n]*"model":"b\/y","error":/);
  });

  it("returns the last answer if all fail", async () => {
    first.script = answerWith(500, '{"from":"a"}');
    second.script = answerWith(503, '{"from":"b"}');
    const answer = await stack.send("responses", { models: ["a/x", "b/y"] });
    expect([answer.status, await answer.text()]).toEqual([503, '{"from":"b"}']);
    const none = await stack.send("responses", { models: ["a/x", "gone/z"] });
    expect(none.status).toBe(502);
    expect(none.headers.get("x-setpoint-upstream")).toBe("gone");
  });

  it("does not move on if the request itself is invalid", async () => {
    first.script = answerWith(400, '{"from":"a"}');
    const answer = await stack.send("chat/completions", { models: ["a/x", "b/y"] });
    expect([answer.status, second.received.length]).toEqual([400, 0]);
  });

  it("is limited in length", async () => {
    second.script = answerWith(500, "{}");
    const listOf = (length: number) => ({ models: Array.from({ length }, (_, index) => `b/${index}`) });
    expect((await stack.send("chat/completions", listOf(16))).status).toBe(500);
    expect(second.received).toHaveLength(16);
    const answer = await stack.send("chat/completions", listOf(17));
    expect([answer.status, second.received.length]).toEqual([400, 16]);
    expect(await answer.text()).toContain("models must name at most 16 models");
  });

  it("is sent unchanged to an upstream that supports it", async () => {
    const body = '{"model":"native/x","models":["native/y","b/y"]}';
    first.script = answerWith(500, "{}");
    expect((await stack.send("chat/completions", body)).status).toBe(500);
    expect(first.last.body()).toBe(body);
    expect(second.received).toEqual([]);
  });

  it.each(["messages/count_tokens", "responses/input_tokens"] as const)("is tried in order for %s", async (call) => {
    const models = ["none/1", "native/x", "b/y"];
    const slug = freshName("counted");
    await stack.create(slug, { models, messages: [] });
    first.script = answerWith(404, "{}");
    second.script = answerWith(200, '{"input_tokens":9}');
    for (const request of [{ model: `@preset/${slug}` }, { models }]) {
      const answer = await stack.send(call, request);
      expect([answer.status, await answer.text()]).toEqual([200, '{"input_tokens":9}']);
      expect([first.last.body(), second.last.body()]).toEqual(['{"model":"native/x"}', '{"model":"y"}']);
    }
  });

  it.each([
    ['{"model":"stripped/x","models":["stripped/y","b/y"]}', '{"model":"x","models":["y","b/y"]}'],
    ['{"models":["stripped/x", "stripped/y"],"top_k":1}', '{"models":["x","y"],"top_k":1}'],
    ['{"models":["b/y"],"model":"stripped/x"}', '{"models":["b/y"],"model":"x"}'],
  ])("is sent with the upstream's model names: %s", async (body, sent) => {
    expect((await stack.send("chat/completions", body)).status).toBe(200);
    expect(first.last.body()).toBe(sent);
  });
});
