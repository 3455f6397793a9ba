import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { administrator } from "../support/administration-rest.ts";
import { freshName } from "../support/fresh-name.ts";
import type { Answer, RequestParts } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

interface Resolved {
  readonly body: Record<string, unknown>;
  readonly provenance: {
    readonly preset: Record<string, unknown>;
    readonly fields: Record<string, unknown>;
    readonly dropped: unknown[];
  };
}

let stack: Stack;
const mebibyte = 1024 * 1024;
const system = { role: "system", content: "Be brief." };
const user = { role: "user", content: "Hi" };

beforeAll(async () => {
  stack = await startStack();
  const config = { model: "openai/gpt-4o", temperature: 0.2, max_tokens: 100 };
  expect((await stack.create("support-bot", { ...config, messages: [system] })).status).toBe(200);
  expect((await stack.create("support-bot", { ...config, temperature: 0.5, messages: [system] })).status).toBe(200);
  expect((await stack.create("without-model", { temperature: 1, messages: [] })).status).toBe(200);
});

afterAll(() => stack.close());

function resolve(path: string, body: unknown, parts: RequestParts = {}): Promise<Answer<Resolved>> {
  return stack.request<Resolved>("POST", `/presets/${path}`, { key: stack.apiKey, body, ...parts });
}

describe("a resolved request", () => {
  it("is returned as it would be sent, with its provenance", async () => {
    const { status, json } = await resolve("support-bot/resolve/chat/completions", {
      model: "@preset/support-bot",
      temperature: 1,
      messages: [user],
    });
    expect(status).toBe(200);
    expect(json.data).toEqual({
      body: { model: "openai/gpt-4o", temperature: 1, max_tokens: 100, messages: [system, user] },
      provenance: {
        preset: {
          slug: "support-bot",
          version: 2,
          version_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          pinned: false,
        },
        fields: {
          "/model": { from: "preset" },
          "/temperature": { from: "request", overrides: "preset" },
          "/max_tokens": { from: "preset" },
          "/messages": { from: "request" },
          "/messages/0": { from: "preset" },
        },
        dropped: [],
      },
    });
  });

  it("keeps the request's text byte for byte", async () => {
    const text = '{ "messages": [] ,\n "seed": 12345678901234567890, "top_p": 1.0, "user": "\\u00e9é" }';
    const { text: answer } = await resolve("support-bot/resolve/messages", text);
    expect(answer).toContain(`{"data":{"body":${text.slice(0, -2)},`);
  });

  it("uses the version named in the query or the body", async () => {
    const first = await resolve("support-bot/resolve/responses?version=1", { input: "Hi" });
    expect(first.json.data.body).toMatchObject({ temperature: 0.2, max_output_tokens: 100, instructions: "Be brief." });
    expect(first.json.data.provenance.preset).toMatchObject({ version: 1, pinned: true });
    const pinned = await resolve("support-bot/resolve/responses", { model: "@preset/support-bot@1" });
    expect(pinned.json.data.provenance.preset).toMatchObject({ version: 1, pinned: true });
    const both = await resolve("support-bot/resolve/responses?version=1", { preset: "support-bot@1" });
    expect(both.json.data.provenance.preset).toMatchObject({ version: 1, pinned: true });
  });

  it("keeps only its own system prompt if the header says replace", async () => {
    const headers = { "x-setpoint-system-prompt": "replace" };
    const { json } = await resolve("support-bot/resolve/messages", { system: "Mine." }, { headers });
    expect(json.data.body.system).toBe("Mine.");
    const wrong = await resolve("support-bot/resolve/messages", {}, { headers: { "x-setpoint-system-prompt": "x" } });
    expect(wrong.status).toBe(400);
    expect(wrong.json.error.message).toBe("X-Setpoint-System-Prompt must be replace, or be left out");
  });

  it("may be 32 MiB", async () => {
    const content = "x".repeat(32 * mebibyte - 100);
    const { status, text } = await resolve("support-bot/resolve/chat/completions", {
      messages: [{ role: "user", content }],
    });
    expect(status).toBe(200);
    expect(text.length).toBeGreaterThan(content.length);
    const large = await resolve("support-bot/resolve/chat/completions", `{"a":"${"x".repeat(32 * mebibyte)}"}`);
    expect(large.status).toBe(413);
  }, 120_000);
});

describe("a request that cannot be resolved", () => {
  it.each([
    [
      "another preset",
      "support-bot/resolve/messages",
      { model: "@preset/other" },
      "must name the preset support-bot or none",
    ],
    ["another version", "support-bot/resolve/messages?version=2", { preset: "support-bot@1" }, "version must be that"],
    ["an invalid reference", "support-bot/resolve/messages", { model: "@preset/" }, "@preset/slug@7"],
    ["a list", "support-bot/resolve/messages", "[]", "must be a JSON object"],
    [
      "invalid JSON",
      "support-bot/resolve/messages",
      '{\n"model":}',
      "must be valid JSON; the error is at line 2, column 9",
    ],
    ["nothing", "support-bot/resolve/messages", "", "is empty; send a JSON object"],
    ["a duplicate key", "support-bot/resolve/messages", '{"a":1,"\\u0061":2}', "a must be given only once"],
    ["no model anywhere", "without-model/resolve/messages", {}, "the preset without-model@1 names none"],
    ["a version that is not a number", "support-bot/resolve/messages?version=x", {}, "version must be an integer"],
  ])("returns 400 with %s", async (_case, path, body, message) => {
    const { status, json } = await resolve(path, body);
    expect(status).toBe(400);
    expect(json.error.message).toContain(message);
  });

  it.each([
    ["support-bt/resolve/messages", "Did you mean support-bot?"],
    ["nothing-like-it/resolve/messages", "Check the slug"],
    ["support-bot/resolve/messages?version=3", "has no version 3"],
    ["support-bot/resolve/messages?version=99999999999", "has no version 99999999999"],
  ])("returns 404 at %s", async (path, message) => {
    const { status, json } = await resolve(path, {});
    expect(status).toBe(404);
    expect(json.error.message).toContain(message);
  });

  it("returns 404 for a key whose workspace was deleted, without blaming the slug", async () => {
    const workspaceId = await stack.tenants.createWorkspace(stack);
    const { secret } = await stack.tenants.createKey(stack, { workspaceId });
    await stack.tenants.deleteWorkspace(workspaceId);
    const { status, json } = await resolve("support-bot/resolve/messages", {}, { key: secret });
    expect(status).toBe(404);
    expect(json.error.message).toContain("The workspace of this key no longer exists.");
  });

  it.each(["disabled", "archived"])("returns 409 if the preset is %s, and says how to proceed", async (state) => {
    await stack.create(state, { model: "m", messages: [] });
    const patched = { key: stack.apiKey, body: { status: state } };
    expect((await stack.request("PATCH", `/presets/${state}`, patched)).status).toBe(200);
    for (const query of ["", "?version=1"]) {
      const { status, json } = await resolve(`${state}/resolve/messages${query}`, {});
      expect(status).toBe(409);
      expect(json.error.message).toBe(
        `The preset ${state} is ${state}. Restore it first: PATCH /api/v1/presets/${state} with {"status": "active"}.`,
      );
    }
  });

  it.each([
    ["another encoding", { "content-encoding": "gzip" }, "{}", 415],
    ["another content type", { "content-type": "text/plain" }, "{}", 415],
    ["invalid UTF-8", {}, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400],
  ])("is rejected with %s", async (_case, headers, body, expected) => {
    expect((await resolve("support-bot/resolve/messages", body, { headers })).status).toBe(expected);
  });
});

describe("permission to resolve", () => {
  it("requires a key that may read presets", async () => {
    const { makeKey } = administrator(stack);
    const writer = (await makeKey({ permissions: ["presets:write"] })).key;
    expect((await resolve("support-bot/resolve/messages", {}, { key: writer })).status).toBe(403);
    expect((await resolve("support-bot/resolve/messages", {}, { key: "sk-sp-v1-nobody" })).status).toBe(401);
    const reader = (await makeKey({ permissions: ["presets:read"] })).key;
    expect((await resolve("support-bot/resolve/messages", {}, { key: reader })).status).toBe(200);
  });

  it("covers the workspace that a management key names", async () => {
    const key = stack.managementKey;
    expect((await resolve("support-bot/resolve/messages", {}, { key })).status).toBe(200);
    const { id } = await administrator(stack).makeWorkspace(freshName("other"));
    expect((await resolve(`support-bot/resolve/messages?workspace_id=${id}`, {}, { key })).status).toBe(404);
  });
});
