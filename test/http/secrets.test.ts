import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keyFromBytes } from "../../services/platform/auth/key-format.ts";
import { type Answer, request } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

const prompt = "the-launch-code-is-4711";
const unknownKey = keyFromBytes(Buffer.alloc(32, 3));

let stack: Stack;
let keys: string[];
let refusals: string;
let metrics: string;

/** Everything that might leak something: successes, errors of every kind, faults. */
beforeAll(async () => {
  stack = await startStack({ gateway: { requestTimeoutMs: 500 } });
  const readOnly = await stack.tenants.createKey(stack, { permissions: ["presets:read"] });
  keys = [stack.apiKey, stack.managementKey, readOnly.secret, unknownKey];
  const messages = [
    { role: "system", content: prompt },
    { role: "user", content: prompt },
  ];
  const texts: string[] = [];
  const collect = async (answer: Promise<Answer<unknown>>) => {
    const { status, text } = await answer;
    if (status >= 400) texts.push(text);
  };

  const other = await stack.tenants.createOrganization();
  keys.push(other.apiKey);
  await stack.create("secret", { messages }, { key: other.apiKey });
  const created = await stack.create("secret", { messages, tools: [{ description: prompt }] });
  expect(created.status).toBe(200);
  await stack.create("secret", { model: "m", messages, system: prompt }, { dialect: "messages" });
  await stack.create("secret", { instructions: prompt, input: prompt }, { dialect: "responses" });
  await collect(stack.request("GET", "/organization/members", { key: stack.managementKey }));
  await collect(stack.create("secret", { messages, temperature: prompt, stream: prompt }));
  await collect(stack.create("secret", { messages: [{ role: "system", content: [{ type: prompt, text: prompt }] }] }));
  await collect(stack.create("secret", `{"messages": "${prompt}`));
  await collect(stack.create("secret", `"${prompt}"`));
  await collect(stack.create("secret", prompt, { headers: { "content-type": "text/plain" } }));
  await collect(stack.create(`-${prompt}`, { messages }));
  for (const key of [unknownKey, readOnly.secret, `${stack.apiKey}x`])
    await collect(stack.create("secret", { messages }, { key }));
  await collect(stack.create("secret", { messages }, { headers: { "idempotency-key": "once" } }));
  await collect(stack.create("secret", { messages, seed: 1 }, { headers: { "idempotency-key": "once" } }));
  await collect(stack.create("secret", { messages }, { query: `?workspace_id=${prompt}` }));
  await request("GET", `${stack.baseUrl}/${prompt}/${stack.apiKey}`);
  await sendNonsense();

  await stack.presetPool.query("RENAME TABLE preset_versions TO preset_versions_away");
  await collect(stack.create("secret", { messages }));
  // Simultaneous requests of two callers: their access tokens go to the service in one message.
  const crowd = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? stack.apiKey : other.apiKey));
  await Promise.all(crowd.map((key) => collect(stack.create("secret", { messages }, { key }))));
  expect(stack.log()).toContain("part of an rpc failed");
  await stack.presetPool.query("RENAME TABLE preset_versions_away TO preset_versions");
  await stack.preset.stop();
  await collect(stack.create("secret", { messages }));
  await stack.organization.stop();
  const cold = await stack.tenants.createKey(stack);
  keys.push(cold.secret);
  await collect(stack.create("secret", { messages }, { key: cold.secret }));
  await stack.organization.start();
  await stack.preset.start();

  refusals = texts.join("\n");
  metrics = await (await fetch(stack.metricsUrl)).text();
  for (const { config } of [stack.preset, stack.organization]) {
    metrics += await (await fetch(`http://127.0.0.1:${config.httpPort}/metrics`)).text();
  }
});

afterAll(() => stack.close());

async function sendNonsense(): Promise<void> {
  const socket = connect(stack.gateway.config.port, "127.0.0.1");
  socket.write(`${prompt}\r\nauthorization: Bearer ${stack.apiKey}\r\n\r\n`);
  await text(socket);
}

describe("prompts, keys and access tokens", () => {
  it("never appear in the log", () => {
    const log = stack.log();
    for (const status of [200, 400, 401, 403, 404, 409, 415, 500, 503]) expect(log).toContain(`"status":${status}`);
    expectNoSecret(log);
  });

  it("never appear in metrics", () => {
    expect(metrics).toContain('outcome="503"');
    expectNoSecret(metrics);
    expect(metrics).not.toContain("secret");
  });

  it("never appear in error answers", () => {
    expect(refusals).toContain('"code":503');
    expectNoSecret(refusals);
  });

  it.each<[string, (key: string) => Promise<Answer<unknown>>]>([
    ["a path", (key) => stack.request("GET", `/nowhere/${key}`, { key })],
    ["a slug", (key) => stack.request("GET", `/presets/${key}`, { key })],
    ["a field", (key) => stack.request("PATCH", "/presets/secret", { key, body: { [key]: 1 } })],
  ])("are shortened in an answer that repeats %s with a key", async (_name, send) => {
    const { status, text } = await send(stack.apiKey);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toContain(stack.apiKey.slice("sk-sp-v1-".length));
  });

  function expectNoSecret(output: string): void {
    expect(output).not.toContain(prompt);
    for (const key of keys) expect(output).not.toContain(key);
    expect(output).not.toContain("Bearer e");
    expect(output).not.toMatch(/\beyJ/);
  }
});
