import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keyFromBytes } from "../../services/platform/auth/key-format.ts";
import { GatewayTelemetry } from "../support/gateway-telemetry.ts";
import { RawConnection } from "../support/raw-connection.ts";
import { type Stack, startStack } from "../support/stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(async () => {
  await stack.close();
});

interface Exchange {
  readonly text: string;
  /** Half-close after sending, like `nc`. */
  readonly halfClose?: boolean;
}

/** Sends raw bytes and returns the first answer with its body; empty if the connection is closed without one. */
function exchange({ text, halfClose = false }: Exchange): Promise<{ status: number; head: string; body: string }> {
  const { hostname, port } = new URL(stack.baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let received = "";
    const settle = () => {
      socket.destroy();
      const [head = "", body = ""] = received.split("\r\n\r\n");
      resolve({ status: Number(head.split(" ")[1]), head, body });
    };
    socket.on("connect", () => (halfClose ? socket.end(text) : socket.write(text)));
    socket.on("data", (chunk) => {
      received += chunk;
      if (/\r\n\r\n[\s\S]*\}$/.test(received)) settle();
    });
    socket.on("end", settle);
    socket.on("error", reject);
  });
}

function creation(slug: string, body = '{"messages":[]}', rest = ""): string {
  const head = [
    `POST /api/v1/presets/${slug}/chat/completions HTTP/1.1`,
    "Host: test",
    `Authorization: Bearer ${stack.apiKey}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}${rest}`;
}

function errorOf(body: string) {
  return JSON.parse(body).error;
}

describe("a connection", () => {
  it.each([
    ["a missing key", "POST /api/v1/presets/a/messages HTTP/1.1\r\nHost: test\r\nContent-Length: 1000\r\n\r\n", 401],
    ["an unknown path", "POST /api/v1/nothing HTTP/1.1\r\nHost: test\r\nContent-Length: 1000\r\n\r\n", 404],
    ["a wrong method", "PUT /api/v1/presets HTTP/1.1\r\nHost: test\r\nContent-Length: 1000\r\n\r\n", 405],
  ])("is rejected for %s without waiting for the body", async (_name, text, status) => {
    // Had the gateway waited for the body, it would be 408.
    const answer = await exchange({ text });
    expect(answer.status).toBe(status);
    expect(errorOf(answer.body).code).toBe(status);
  });

  it("gets 413 for an announced body that is too large before sending it", async () => {
    const text = creation("large", "").replace("Content-Length: 0", "Content-Length: 1000000000");
    expect((await exchange({ text })).status).toBe(413);
  });

  it.each(["}", "\0\0", "GARBAGE\r\n\r\n"])(
    "gets its answer even if stray bytes follow the request: %j",
    async (rest) => {
      const slug = `stray-${rest.length}`;
      expect((await exchange({ text: creation(slug, undefined, rest) })).status).toBe(200);
    },
  );

  it("is answered after the client has half-closed it", async () => {
    expect((await exchange({ text: creation("half-closed"), halfClose: true })).status).toBe(200);
  });

  it.each([
    ["no Host", "GET /api/v1/presets HTTP/1.1\r\n\r\n", 400],
    ["no Host in HTTP/1.0, where it is optional", "GET /api/v1/presets HTTP/1.0\r\n\r\n", 401],
    ["an unknown expectation", "GET /api/v1/presets HTTP/1.1\r\nHost: test\r\nExpect: miracles\r\n\r\n", 417],
    ["bytes that are not HTTP", "GARBAGE\r\n\r\n", 400],
    ["a CONNECT request", "CONNECT test:443 HTTP/1.1\r\nHost: test:443\r\n\r\n", 400],
  ])("gets a JSON error body for %s", async (_name, text, status) => {
    const { head, body, ...answer } = await exchange({ text });
    expect(answer.status).toBe(status);
    expect(head.toLowerCase()).toContain(`x-request-id: ${errorOf(body).metadata.request_id}`);
    expect(head.toLowerCase()).toContain("content-type: application/json");
  });

  it.each([
    ["no Host", "", ["Host"]],
    ["two", "Host: a\r\nhost: b\r\n", ["Host"]],
    ["two identical ones", "Host: a\r\nHost: a\r\n", ["Host"]],
    ["two keys", "Host: a\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n", ["Authorization"]],
    ["two of each", "Host: a\r\nHost: a\r\nAuthorization: a\r\nAuthorization: a\r\n", ["Host", "Authorization"]],
  ])("gets 400 for missing or duplicate Host or Authorization headers: %s", async (_name, headers, paths) => {
    const { status, body } = await exchange({ text: `GET /api/v1/presets HTTP/1.1\r\n${headers}\r\n` });
    expect(status).toBe(400);
    expect(errorOf(body).metadata.issues.map(({ path }: { path: string }) => path)).toEqual(paths);
    expect(body).not.toContain("Bearer");
  });

  it.each(["PROPFIND", "PURGE", "TRACE"])("gets 405 with Allow for %s", async (method) => {
    const { status, head } = await exchange({ text: `${method} /api/v1/presets HTTP/1.1\r\nHost: test\r\n\r\n` });
    expect(status).toBe(405);
    expect(head.toLowerCase()).toContain("allow: get, head");
  });

  it("is counted in the metrics when it uses a wrong method", async () => {
    const telemetry = new GatewayTelemetry(stack);
    const before = await telemetry.counted("other /api/v1/key", 405);
    for (const method of ["MKCOL", "DELETE"]) {
      await exchange({ text: `${method} /api/v1/key HTTP/1.1\r\nHost: test\r\n\r\n` });
    }
    await expect.poll(() => telemetry.counted("other /api/v1/key", 405)).toBe(before + 2);
  });
});

describe("a client that asks for a tunnel and breaks its connection", () => {
  const tunnel = "CONNECT test:443 HTTP/1.1\r\nHost: test:443\r\n\r\n";
  const list = () => `GET /api/v1/presets HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${stack.apiKey}\r\n\r\n`;

  // An error that nobody listens for would end the process, and this test run.
  it.each([
    ["at once", () => tunnel, 0],
    ["after the answer", () => tunnel, 1],
    ["while an earlier request is processed", () => list() + tunnel, 0],
  ])("ends nothing else: %s", async (_name, text, answers) => {
    const connection = await RawConnection.open(stack.baseUrl);
    await connection.sent(text());
    await expect.poll(() => connection.statuses.length).toBeGreaterThanOrEqual(answers);
    connection.reset();
    expect((await fetch(`${stack.baseUrl}/healthz`)).status).toBe(200);
  });
});

describe("a client that sends Expect: 100-continue", () => {
  const ask = (key: string, length: number, type = "application/json") =>
    [
      "POST /api/v1/presets/asked/chat/completions HTTP/1.1",
      "Host: test",
      ...(key ? [`Authorization: Bearer ${key}`] : []),
      `Content-Type: ${type}`,
      `Content-Length: ${length}`,
      "Expect: 100-continue",
      "\r\n",
    ].join("\r\n");

  it.each([
    ["without a key", () => ask("", 15), 401],
    ["with a bad key", () => ask("wrong", 15), 401],
    ["with an unknown key", () => ask(keyFromBytes(Buffer.alloc(32, 7)), 15), 401],
    ["with a body that is too large", () => ask(stack.apiKey, 1_000_000_000), 413],
    ["with another content type", () => ask(stack.apiKey, 15, "text/plain"), 415],
  ])("gets a final error status instead of 100 %s", async (_name, text, status) => {
    const connection = await RawConnection.open(stack.baseUrl);
    connection.send(text());
    await connection.closed();
    expect(connection.statuses).toEqual([status]);
  });

  it.each([
    ["a small body", "", false],
    ["a large body", "x".repeat(100_000), false],
    ["a body of unknown length", "", true],
  ])("gets 100 with a valid key, and then its answer: %s", async (_name, content, isChunked) => {
    const body = JSON.stringify({ messages: [{ role: "system", content }] });
    const head = ask(stack.apiKey, body.length);
    const connection = await RawConnection.open(stack.baseUrl);
    connection.send(isChunked ? head.replace(/Content-Length: .*/, "Transfer-Encoding: chunked") : head);
    await expect.poll(() => connection.statuses).toEqual([100]);
    connection.send(isChunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body);
    await expect.poll(() => connection.statuses).toEqual([100, 200]);
    connection.hangUp();
  });
});

describe("a 401 answer", () => {
  it.each(["", "wrong", keyFromBytes(Buffer.alloc(32, 8))])(
    "has WWW-Authenticate: Bearer for the key %j",
    async (key) => {
      const headers = key === "" ? {} : { authorization: `Bearer ${key}` };
      const { status, headers: answered } = await fetch(`${stack.baseUrl}/api/v1/presets`, { headers });
      expect([status, answered.get("www-authenticate")]).toEqual([401, "Bearer"]);
    },
  );

  it("has WWW-Authenticate: Bearer for a key of the wrong kind", async () => {
    const { status, headers } = await stack.request("GET", "/organization/members", { key: stack.apiKey });
    expect([status, headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });
});

describe("a request that reaches no route", () => {
  const cases: [string, string, string, number][] = [
    ["bytes that are not HTTP", "GARBAGE\r\n\r\n", "none", 400],
    ["a CONNECT request", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", "none", 400],
    ["headers that are too large", `GET / HTTP/1.1\r\nx: ${"y".repeat(40_000)}\r\n\r\n`, "none", 431],
    ["a broken percent-encoding", "GET /api/v1/presets/%zz HTTP/1.1\r\nHost: a\r\n\r\n", "GET none", 400],
    ["an unknown path", "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", "GET none", 404],
    ["no Host", "GET /nothing HTTP/1.1\r\n\r\n", "GET none", 400],
    ["an expectation", "GET /nothing HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n", "GET none", 417],
  ];

  it.each(cases)("is logged and counted: %s", async (_name, text, operation, status) => {
    const before = await new GatewayTelemetry(stack).counted(operation, status);
    const answer = await exchange({ text });
    expect(answer.status).toBe(status);
    const { metadata } = errorOf(answer.body);
    if (status === 400) expect(metadata.issues).toHaveLength(1);
    const lines = () =>
      stack
        .log()
        .split("\n")
        .filter((line) => line.includes(metadata.request_id));
    await expect.poll(lines).toHaveLength(1);
    expect(JSON.parse(lines()[0] as string)).toMatchObject({ msg: "request", route: "none", status });
    expect(await new GatewayTelemetry(stack).counted(operation, status)).toBe(before + 1);
  });
});

describe("a key in the wrong place", () => {
  it.each([
    ["the path", () => `/api/v1/${stack.apiKey}`],
    ["the slug", () => `/api/v1/presets/${stack.apiKey}`],
  ])("is not echoed from %s", async (_name, path) => {
    const response = await fetch(new URL(path(), stack.baseUrl), {
      headers: { authorization: `Bearer ${stack.apiKey}`, "x-request-id": stack.apiKey },
    });
    expect(response.status).toBe(404);
    expect(response.headers.get("x-request-id")).not.toContain("sk-sp");
    expect(await response.text()).not.toContain(stack.apiKey.slice(0, 20));
    expect(stack.log()).not.toContain(stack.apiKey.slice(0, 20));
  });
});
