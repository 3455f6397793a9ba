import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answerWith, HostileUpstream, streamOf } from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  upstream = await HostileUpstream.start();
  stack = await startInferenceStack({
    upstreams: [entryOf(upstream, { models: ["vendor/*"], strip_prefix: "vendor/" })],
  });
  const created = await stack.create("bot", {
    model: "vendor/model",
    temperature: 1.5,
    messages: [{ role: "system", content: "Grüße" }],
  });
  expect(created.status).toBe(200);
});

afterAll(async () => {
  await stack.close();
  await upstream.stop();
});

beforeEach(() => upstream.reset());

const messages = [{ role: "user", content: "hi" }];

describe("a request with a preset", () => {
  it("is merged and sent to the upstream of its model, and the answer names the version", async () => {
    const answer = await stack.send("chat/completions", { model: "@preset/bot", messages, top_p: 1 });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-setpoint-preset")).toBe("bot@1");
    expect(answer.headers.get("x-setpoint-provenance")).toBeNull();
    expect(JSON.parse(upstream.last.body())).toEqual({
      model: "model",
      temperature: 1.5,
      top_p: 1,
      messages: [{ role: "system", content: "Grüße" }, ...messages],
    });
  });

  it("records resolve time, unlike a request without a preset", async () => {
    const resolved = () => stack.metric("setpoint_inference_resolve_seconds_count");
    const before = await resolved();
    await stack.send("chat/completions", { model: "@preset/bot", messages });
    await stack.send("chat/completions", { model: "vendor/model", messages });
    expect(await resolved()).toBe(before + 1);
  });

  it("names the version even if the upstream rejects it", async () => {
    upstream.script = answerWith(402, '{"pay":true}');
    const answer = await stack.send("chat/completions", { model: "@preset/bot@1", messages });
    expect([answer.status, answer.headers.get("x-setpoint-preset")]).toEqual([402, "bot@1"]);
  });

  it("is not sent if the preset does not exist", async () => {
    expect((await stack.send("chat/completions", { model: "@preset/none", messages })).status).toBe(404);
    expect(upstream.received).toEqual([]);
  });

  const explained = { headers: { "X-Setpoint-Explain": "1" } };

  it("has its provenance in a header on request", async () => {
    const answer = await stack.send("chat/completions", { model: "@preset/bot", messages, é: 1 }, explained);
    const provenance = answer.headers.get("x-setpoint-provenance") ?? "";
    expect(provenance).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(provenance)).toMatchObject({
      preset: { slug: "bot", version: 1, pinned: false },
      fields: { "/temperature": { from: "preset" } },
    });
  });

  it("has its provenance in the first comment of a stream", async () => {
    upstream.script = streamOf(["data: 1\n\n"]);
    const answer = await stack.send("chat/completions", { model: "@preset/bot", messages, stream: true }, explained);
    expect(answer.headers.get("x-setpoint-provenance")).toBeNull();
    const [comment, ...events] = (await answer.text()).split("\n\n");
    expect(JSON.parse(comment?.replace(/^: /, "") ?? "")).toMatchObject({ preset: { slug: "bot" } });
    expect(events).toEqual(["data: 1", ""]);
  });

  it("has its provenance in a header of a stream that is compressed, into which nothing can be written", async () => {
    const encoded = { "content-type": "text/event-stream", "content-encoding": "gzip" };
    upstream.script = answerWith(200, gzipSync("data: 1\n\n"), encoded);
    const answer = await stack.send("chat/completions", { model: "@preset/bot", messages, stream: true }, explained);
    expect(JSON.parse(answer.headers.get("x-setpoint-provenance") ?? "{}")).toMatchObject({ preset: { slug: "bot" } });
    expect(await answer.text()).toBe("data: 1\n\n");
  });

  it("has its provenance without fields if they do not fit into a header", async () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field_${index}`, 1]));
    const answer = await stack.send("chat/completions", { model: "@preset/bot", messages, ...many }, explained);
    expect(JSON.parse(answer.headers.get("x-setpoint-provenance") ?? "")).toMatchObject({
      preset: { slug: "bot" },
      is_truncated: true,
    });
  });

  it("returns 400 for an invalid explain header", async () => {
    const wrong = { headers: { "X-Setpoint-Explain": "yes" } };
    expect((await stack.send("chat/completions", { model: "@preset/bot", messages }, wrong)).status).toBe(400);
  });
});
