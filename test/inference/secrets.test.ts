import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dialectNames } from "../../gateway/dialects/dialect-name.ts";
import {
  answerWith,
  HostileUpstream,
  type Script,
  silence,
  streamBroken,
  streamOf,
} from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";

const prompt = "a-prompt-that-nobody-else-may-see";
const generated = "an-answer-that-nobody-else-may-see";
const credential = "credential-of-the-operator";

let upstream: HostileUpstream;
let stack: InferenceStack;
/** What the gateway itself answered, and not an upstream. */
let refusals = "";

beforeAll(async () => {
  process.env.TEST_UPSTREAM_KEY = credential;
  upstream = await HostileUpstream.start();
  const at = (name: string, more: object = {}) =>
    entryOf(upstream, { name, models: [name], credential: { env: "TEST_UPSTREAM_KEY" }, ...more });
  stack = await startInferenceStack({
    upstreams: [
      at("main"),
      at("slow", { timeouts: { first_byte_ms: 200, first_byte_streamed_ms: 200 } }),
      at("gone", { base_url: "http://127.0.0.1:9" }),
    ],
  });
  await stack.create("bot", { model: "main", messages: [{ role: "system", content: prompt }] });
  for (const dialect of dialectNames) await sendAll(dialect);
});

afterAll(async () => {
  delete process.env.TEST_UPSTREAM_KEY;
  await stack.close();
  await upstream.stop();
});

async function sendAll(dialect: (typeof dialectNames)[number]): Promise<void> {
  const text = { system: prompt, instructions: prompt, messages: [{ role: "user", content: prompt }], input: prompt };
  const send = async (script: Script, body: unknown, headers: Record<string, string> = {}) => {
    upstream.script = script;
    const answer = await stack.send(dialect, body, { headers });
    const content = await answer.text();
    if (!answer.headers.has("x-setpoint-upstream") || answer.status > 500) refusals += content;
  };
  const answered = answerWith(200, JSON.stringify({ content: generated }));
  await send(answered, { model: "main", ...text });
  await send(answered, { model: "@preset/bot", ...text }, { "X-Setpoint-Explain": "1" });
  await send(streamOf([`data: {"content":"${generated}"}\n\n`]), { model: "main", stream: true, ...text });
  await send(streamBroken(`data: {"content":"${generated}`), { model: "main", stream: true, ...text });
  await send(answerWith(400, JSON.stringify({ error: prompt })), { model: "main", ...text });
  await send(answerWith(500, JSON.stringify({ error: prompt })), { models: ["main", "gone"], ...text });
  await send(answerWith(302, "", { location: `http://127.0.0.1/${credential}` }), { model: "main", ...text });
  await send((_request, socket) => void socket.write(`${prompt}\r\n\r\n`), { model: "main", ...text });
  await send(silence, { model: "slow", ...text });
  await send(answered, { model: "gone", ...text });
  await send(answered, { model: "nobody", ...text });
  await send(answered, { model: "@preset/none", ...text });
  await send(answered, { model: stack.apiKey, ...text });
  await send(answered, { model: { name: prompt }, ...text });
  await send(answered, `{"model":"main","text":"${prompt}`);
  await send(answered, { model: "main", ...text }, { "X-Setpoint-Explain": prompt });
  await send(answered, { model: "main", ...text }, { authorization: `Bearer ${stack.managementKey}` });
}

function expectNoSecret(output: string): void {
  const secrets = { prompt, generated, credential, api: stack.apiKey, management: stack.managementKey, token: "eyJ" };
  const shown = Object.entries(secrets).filter(([, secret]) => output.includes(secret));
  expect(shown.map(([name]) => name)).toEqual([]);
}

describe("prompts, answers, keys and credentials of inference", () => {
  it("never appear in the log", () => {
    const log = stack.log();
    for (const status of [200, 400, 403, 404, 502, 504]) expect(log).toContain(`"status":${status}`);
    expect(log).toContain("answer broke off");
    expectNoSecret(log);
  });

  it("never appear in metrics", async () => {
    const metrics = await (await fetch(stack.metricsUrl)).text();
    expect(metrics).toMatch(/setpoint_inference_seconds_count\{.*status="502"/);
    expectNoSecret(metrics);
  });

  it("never appear in the gateway's own answers", () => {
    for (const status of [400, 403, 404, 502, 504]) expect(refusals).toContain(`"code":${status}`);
    expectNoSecret(refusals);
  });
});
