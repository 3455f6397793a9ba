import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answerWith, chunkOf, HostileUpstream, headOf, lastChunk } from "../support/hostile-upstream.ts";
import { entryOf, type InferenceStack, startInferenceStack } from "../support/inference.ts";
import { requestRaw } from "../support/rest.ts";

let upstream: HostileUpstream;
let stack: InferenceStack;

beforeAll(async () => {
  process.env.TEST_UPSTREAM_KEY = "secret-of-the-operator";
  upstream = await HostileUpstream.start();
  const credential = { header: "authorization", prefix: "Bearer ", env: "TEST_UPSTREAM_KEY" };
  stack = await startInferenceStack({
    upstreams: [
      entryOf(upstream, {
        name: "own-headers",
        base_url: `${upstream.url}/?api-version=7`,
        models: ["own/*"],
        strip_prefix: "own/",
        headers: { "X-Title": "the operator's", "x-fixed": "1" },
        credential: { header: "x-api-key", env: "TEST_UPSTREAM_KEY" },
      }),
      entryOf(upstream, { credential }),
    ],
  });
});

afterAll(async () => {
  delete process.env.TEST_UPSTREAM_KEY;
  await stack.close();
  await upstream.stop();
});

beforeEach(() => upstream.reset());

const body = { model: "m" };

describe("request headers", () => {
  it("are forwarded only if on the allow-list", async () => {
    const passed = {
      accept: "text/event-stream",
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "a,b",
      "openai-beta": "assistants=v2",
      "http-referer": "https://example.com",
      "x-title": "App",
      "x-openrouter-title": "App",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "idempotency-key": "k1",
    };
    const kept = {
      cookie: "session=1",
      forwarded: "for=1.2.3.4",
      "x-forwarded-for": "1.2.3.4",
      "x-forwarded-host": "inner",
      "x-request-id": "mine",
      "x-other": "1",
      "proxy-authorization": "Basic eDp5",
      te: "trailers",
      "accept-encoding": "gzip, br",
    };
    const text = JSON.stringify(body);
    const answer = await requestRaw("POST", stack.baseUrl, "/api/v1/chat/completions", {
      headers: {
        ...passed,
        ...kept,
        authorization: `Bearer ${stack.apiKey}`,
        "content-type": "application/json",
        "content-length": String(text.length),
      },
      chunks: [text],
    });
    expect(answer.status).toBe(200);
    const { host, connection, ...rest } = upstream.last.headers;
    expect(rest).toEqual({
      ...passed,
      "content-type": "application/json",
      "content-length": String(text.length),
      "accept-encoding": "identity",
      authorization: "Bearer secret-of-the-operator",
    });
    expect(host).toBe(`127.0.0.1:${upstream.port}`);
    expect(connection).toBe("keep-alive");
    expect(upstream.last.rawHead).not.toContain(stack.apiKey);
  });

  it("do not replace the operator's own headers", async () => {
    await stack.send("chat/completions", { model: "own/gpt" }, { headers: { "x-title": "the client's" } });
    const { headers, requestLine } = upstream.last;
    expect(requestLine).toBe("POST /v1/chat/completions?api-version=7 HTTP/1.1");
    expect(headers).toMatchObject({
      "x-title": "the operator's",
      "x-fixed": "1",
      "x-api-key": "secret-of-the-operator",
    });
    expect(headers.authorization).toBeUndefined();
    expect(JSON.parse(upstream.last.body())).toEqual({ model: "gpt" });
  });
});

describe("answer headers", () => {
  it("are forwarded only if on the allow-list", async () => {
    const passed = {
      "retry-after": "7",
      "retry-after-ms": "7000",
      "x-should-retry": "true",
      "x-ratelimit-remaining-tokens": "12",
      "openai-processing-ms": "5",
      "anthropic-ratelimit-tokens-limit": "9",
      "x-generation-id": "gen-1",
    };
    upstream.script = answerWith(400, '{"error":1}', {
      ...passed,
      "content-type": "application/problem+json",
      "set-cookie": "a=b",
      server: "inner",
      via: "1.1 inner",
      location: "http://inner",
      "request-id": "theirs",
      "x-request-id": "theirs",
      "x-setpoint-upstream": "forged",
      "x-other": "1",
      "keep-alive": "timeout=5",
    });
    const answer = await stack.send("chat/completions", body);
    const { "x-request-id": requestId, date: _, ...headers } = Object.fromEntries(answer.headers);
    expect(headers).toEqual({
      ...passed,
      "content-type": "application/problem+json",
      "content-length": "11",
      connection: "keep-alive",
      "keep-alive": "timeout=72",
      "x-setpoint-upstream": "main",
    });
    expect(requestId).not.toBe("theirs");
    expect([answer.status, await answer.text()]).toEqual([400, '{"error":1}']);
  });

  it.each(["messages", "messages/count_tokens"] as const)(
    "of %s also have the request id where Anthropic's clients look for it",
    async (call) => {
      for (const status of [200, 429]) {
        upstream.script = answerWith(status, "{}", { "request-id": "theirs" });
        const { headers } = await stack.send(call, body);
        expect(headers.get("request-id")).toBe(headers.get("x-request-id"));
      }
    },
  );

  it("that occur twice are forwarded as they are", async () => {
    upstream.script = (_request, socket) => {
      const lines = ["content-type: text/event-stream", "x-ratelimit-limit: 1", "x-ratelimit-limit: 2"];
      const head = ["HTTP/1.1 200 OK", ...lines, ...lines, "transfer-encoding: chunked"].join("\r\n");
      socket.write(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), chunkOf("data: 1\n\n"), Buffer.from(lastChunk)]));
    };
    const answer = await stack.send("chat/completions", body);
    expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(answer.headers.get("x-accel-buffering")).toBe("no");
    expect(answer.headers.get("x-ratelimit-limit")).toBe("1, 2, 1, 2");
    expect(await answer.text()).toBe("data: 1\n\n");
  });

  it("state the compression even if it was not requested", async () => {
    upstream.script = answerWith(200, gzipSync('{"zipped":true}'), { "content-encoding": "gzip" });
    const answer = await stack.send("chat/completions", body);
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect(await answer.json()).toEqual({ zipped: true });
  });

  it("with a redirect return 502, and it is not followed", async () => {
    upstream.script = answerWith(307, "", { location: `${upstream.url}/elsewhere` });
    const answer = await stack.send("chat/completions", body);
    expect(answer.status).toBe(502);
    expect(answer.headers.get("location")).toBeNull();
    expect(((await answer.json()) as { error: { message: string } }).error.message).toBe(
      "The upstream main answered with a redirect, which is not followed. Whoever runs this gateway may have to change its address.",
    );
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(upstream.received).toHaveLength(1);
  });

  it.each([
    [401, {}, "false"],
    [401, { "x-should-retry": "true" }, "true"],
    [403, {}, null],
    [500, { "x-should-retry": "false" }, "false"],
  ])("of a %i with %j say %s about retries", async (status, headers, expected) => {
    upstream.script = answerWith(status, "{}", headers);
    const answer = await stack.send("messages", body);
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([status, expected]);
  });

  it("are sent on at once if they arrive before the body", async () => {
    let go = () => {};
    upstream.script = (_request, socket) => {
      socket.write(headOf(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked" }));
      go = () => socket.write(Buffer.concat([chunkOf("data: 1\n\n"), Buffer.from(lastChunk)]));
    };
    const answer = await stack.send("chat/completions", body);
    expect(answer.status).toBe(200);
    go();
    expect(await answer.text()).toBe("data: 1\n\n");
  });
});

describe("a client's key", () => {
  it("may be sent in x-api-key", async () => {
    const text = JSON.stringify(body);
    const { status } = await requestRaw("POST", stack.baseUrl, "/api/v1/messages", {
      headers: { "x-api-key": stack.apiKey, "content-type": "application/json", "content-length": String(text.length) },
      chunks: [text],
    });
    expect(status).toBe(200);
    expect(upstream.last.rawHead).not.toContain(stack.apiKey);
  });

  it.each([{ authorization: "" }, { authorization: "Bearer " }, { "x-api-key": "" }])(
    "may be in one header while the other is empty: %j",
    async (empty) => {
      const headers = { authorization: `Bearer ${stack.apiKey}`, "x-api-key": stack.apiKey, ...empty };
      expect((await stack.send("messages", body, { headers })).status).toBe(200);
    },
  );

  it("that is missing gets an error naming both headers", async () => {
    const text = JSON.stringify(body);
    const answer = await requestRaw("POST", stack.baseUrl, "/api/v1/messages", {
      headers: { "content-type": "application/json", "content-length": String(text.length) },
      chunks: [text],
    });
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining("or `x-api-key: <key>`")]);
  });

  it("may be in both headers if it is the same", async () => {
    expect((await stack.send("messages", body, { headers: { "x-api-key": stack.apiKey } })).status).toBe(200);
    const { secret } = await stack.tenants.createKey(stack);
    expect((await stack.send("messages", body, { headers: { "x-api-key": secret } })).status).toBe(401);
  });

  it("must be an API key with inference permission", async () => {
    const asManager = { headers: { authorization: `Bearer ${stack.managementKey}` } };
    expect((await stack.send("chat/completions", body, asManager)).status).toBe(403);
    const { secret } = await stack.tenants.createKey(stack, { permissions: ["presets:read"] });
    expect(
      (await stack.send("chat/completions", body, { headers: { authorization: `Bearer ${secret}` } })).status,
    ).toBe(403);
    expect(upstream.received).toEqual([]);
  });
});

describe("an error answer", () => {
  it("for a wrong method on /messages has Anthropic's format", async () => {
    const answer = await fetch(`${stack.baseUrl}/api/v1/messages`);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await answer.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  });

  it.each([
    [401, "authentication_error", "{}", { authorization: "Bearer no" }],
    [404, "not_found_error", '{"model":"@preset/none"}', {}],
    [400, "invalid_request_error", "{", {}],
    [415, "invalid_request_error", "{}", { "content-type": "text/plain" }],
    [413, "request_too_large", " ".repeat(33 * 1024 * 1024), {}],
  ] as const)("with status %i has Anthropic's format on /messages only: %s", async (status, type, text, headers) => {
    const answer = await stack.send("messages", text, { headers });
    const requestId = answer.headers.get("x-request-id");
    expect([answer.status, await answer.json()]).toEqual([
      status,
      { type: "error", error: { type, message: expect.any(String) }, request_id: requestId },
    ]);
    const other = await stack.send("responses", text, { headers });
    expect([other.status, await other.json()]).toMatchObject([status, { error: { code: status } }]);
  });
});
