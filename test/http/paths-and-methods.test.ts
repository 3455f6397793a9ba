import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../support/error-answers.ts";
import { freshName } from "../support/fresh-name.ts";
import { metricOf } from "../support/metrics.ts";
import { uuidV7 } from "../support/patterns.ts";
import { request, requestRaw } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

describe("an unknown path", () => {
  it.each([
    ["GET", "/nowhere"],
    ["GET", "/api"],
    ["GET", "/api/v1"],
    ["GET", "/api/v1/organization"],
    ["GET", "/api/v1/organization/members/1/2"],
    ["POST", "/api/v1/presets/a/completions"],
    ["POST", "/api/v1/presets/a/chat"],
    ["POST", "/api/v1/presets/a/b/chat/completions"],
    ["POST", "/API/v1/presets/a/messages"],
    ["POST", "/api/v2/presets/a/messages"],
    ["GET", "/metrics"],
    ["GET", "/constructor"],
  ])("returns 404 with the error body: %s %s", async (method, path) => {
    expectError(await request(method, stack.baseUrl + path, { key: stack.apiKey }), 404);
  });

  it.each([
    ["malformed JSON", "{", "application/json"],
    ["another type", "hello", "text/plain"],
    ["more bytes than the limit", "x".repeat(11 * 1024 * 1024), "application/json"],
  ])("returns 404 even with a body of %s", async (_name, body, type) => {
    expectError(await request("POST", `${stack.baseUrl}/nowhere`, { body, headers: { "content-type": type } }), 404);
  });
});

describe("a method that a path does not support", () => {
  const creations = ["chat/completions", "messages", "responses"].map((dialect) => `/api/v1/presets/a/${dialect}`);
  const cases = [
    ...creations.flatMap((path) =>
      ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"].map((method) => [method, path, "POST"]),
    ),
    ...[
      "/api/v1/presets",
      "/api/v1/presets/a/versions",
      "/api/v1/presets/a/versions/1",
      "/api/v1/presets/a/versions/1/diff/2",
      "/api/v1/presets/a/changes",
      "/api/v1/organization/changes",
      "/api/v1/key",
    ].flatMap((path) => ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"].map((method) => [method, path, "GET, HEAD"])),
    ...["POST", "PUT", "DELETE"].map((method) => [method, "/api/v1/presets/a", "GET, HEAD, PATCH"]),
    ...["PUT", "PATCH", "DELETE"].flatMap((method) =>
      ["keys", "workspaces", "organization/members"].map((path) => [method, `/api/v1/${path}`, "GET, HEAD, POST"]),
    ),
    ...["POST", "PUT"].flatMap((method) =>
      ["keys/a", "workspaces/a"].map((path) => [method, `/api/v1/${path}`, "DELETE, GET, HEAD, PATCH"]),
    ),
    ["GET", "/api/v1/organization/members/a", "DELETE, PATCH"],
    ...["keys/a/rotate", "workspaces/a/members/add"].map((path) => ["GET", `/api/v1/${path}`, "POST"]),
    ...["POST", "DELETE"].flatMap((method) => ["/healthz", "/readyz"].map((path) => [method, path, "GET, HEAD"])),
  ] as [string, string, string][];

  it.each(cases)("returns 405 with Allow: %s %s", async (method, path, allow) => {
    const answer = await request(method, stack.baseUrl + path);
    expect(answer.headers.get("allow")).toBe(allow);
    if (method === "HEAD") expect(answer.status).toBe(405);
    else expectError(answer, 405);
  });

  it("returns 405 whatever the body", async () => {
    const answer = await request("PUT", `${stack.baseUrl}${creations[0]}`, {
      body: "hello",
      headers: { "content-type": "text/plain" },
    });
    expectError(answer, 405);
  });
});

describe("a path", () => {
  it("may end with a slash", async () => {
    for (const dialect of ["chat/completions/", "messages/", "responses/"]) {
      const body = { messages: [], model: "m" };
      const answer = await stack.request("POST", `/presets/slash/${dialect}`, { key: stack.apiKey, body });
      expect(answer.status).toBe(200);
    }
    expect((await stack.request("GET", "/organization/members/?limit=1", { key: stack.managementKey })).status).toBe(
      200,
    );
  });

  it("supports HEAD if it supports GET", async () => {
    const answer = await stack.request("HEAD", "/organization/members", { key: stack.managementKey });
    expect(answer).toMatchObject({ status: 200, text: "" });
    expect(Number(answer.headers.get("content-length"))).toBeGreaterThan(0);
    expect((await stack.request("HEAD", "/organization/members")).status).toBe(401);
  });

  it("with invalid percent-encoding returns 400", async () => {
    const { status, headers, json } = await requestRaw("GET", stack.baseUrl, "/api/v1/organization/members%");
    expect(status).toBe(400);
    expect(json.error.metadata).toMatchObject({ request_id: headers.get("x-request-id"), issues: [{ path: "" }] });
  });
});

describe("the probes", () => {
  it.each([
    ["/healthz", { status: "ok" }],
    ["/readyz", { status: "ready" }],
  ])("answer %s without a key", async (path, body) => {
    const answer = async () => {
      const { status, json } = await request("GET", stack.baseUrl + path);
      return { status, json };
    };
    await expect.poll(answer).toEqual({ status: 200, json: body });
  });

  it("do not count as requests: alerts on their part would depend on how often a load balancer probes", async () => {
    await Promise.all(["/healthz", "/readyz"].map((path) => request("GET", stack.baseUrl + path)));
    await stack.request("GET", "/presets", { key: stack.apiKey });
    const count = (route: string) =>
      metricOf(stack.metricsUrl, "setpoint_request_seconds_count", `operation="GET ${route}"`);
    await expect.poll(() => count("/api/v1/presets")).toBeGreaterThan(0);
    expect([await count("/healthz"), await count("/readyz")]).toEqual([0, 0]);
  });
});

describe("a request id", () => {
  const send = (id: string, key = stack.apiKey) =>
    stack.create("named", undefined, { key, headers: { "x-request-id": id } });

  it.each(["a", "01a1dd13-1df0-7790-9f80-957fd577f547", "trace:1/2+3=4~5_6.7", "x".repeat(128)])(
    "sent by the caller is kept: %s",
    async (id) => {
      expect((await send(id)).headers.get("x-request-id")).toBe(id);
      const { headers, json } = await send(id, "wrong");
      expect(headers.get("x-request-id")).toBe(id);
      expect(json.error.metadata.request_id).toBe(id);
    },
  );

  it.each([
    ["empty", ""],
    ["too long", "x".repeat(129)],
    ["with a space", "a b"],
    ["with markup", "<script>"],
    ["with quotes", '"a"'],
    ["not ASCII", "é"],
  ])("that is %s is replaced", async (_name, id) => {
    expect((await send(id)).headers.get("x-request-id")).toMatch(uuidV7);
    const { headers, json } = await send(id, "wrong");
    expect(headers.get("x-request-id")).toMatch(uuidV7);
    expect(json.error.metadata.request_id).toBe(headers.get("x-request-id"));
  });

  it("is generated if missing, a new one for each request", async () => {
    const ids = await Promise.all(
      [stack.create("named"), stack.create("named"), request("GET", `${stack.baseUrl}/nowhere`)].map(async (answer) =>
        (await answer).headers.get("x-request-id"),
      ),
    );
    for (const id of ids) expect(id).toMatch(uuidV7);
    expect(new Set(ids).size).toBe(3);
  });

  it("is logged by every process that handled the request", async () => {
    const id = freshName("followed-through");
    await send(id);
    const lines = stack
      .log()
      .split("\n")
      .filter((line) => line.includes(id));
    expect(lines.map((line) => JSON.parse(line)).map(({ rpc, route }) => rpc ?? route)).toEqual([
      "setpoint.preset.v1.PresetService/CreateVersion",
      "/api/v1/presets/:slug/chat/completions",
    ]);
  });
});

describe("bytes that are not an HTTP request", () => {
  it.each([
    ["nonsense", "nonsense\r\n\r\n", 400],
    ["half an HTTP/2 preface", "PRI /\r\n\r\nSM", 400],
    ["an RTSP method", "DESCRIBE /\r\n\r\n", 400],
    ["two content lengths", "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", 400],
    ["oversized headers", `GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(40_000)}\r\n\r\n`, 431],
  ])("get a JSON error: %s", async (_name, bytes, status) => {
    const socket = connect(stack.gateway.config.port, "127.0.0.1");
    socket.write(bytes);
    const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain("content-type: application/json");
    const { error } = JSON.parse(body);
    expect(error.code).toBe(status);
    expect(head).toContain(`x-request-id: ${error.metadata.request_id}`);
    if (status === 400) expect(error.metadata.issues).toMatchObject([{ path: "" }]);
  });
});
