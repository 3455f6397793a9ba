import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { freshName } from "../support/fresh-name.ts";
import { metricOf } from "../support/metrics.ts";
import { requestRaw } from "../support/rest.ts";
import { type Stack, startStack } from "../support/stack.ts";

const kibibyte = 1024;
const bodyBytesMax = 400 * kibibyte;
/** A key may use half of it, an organization three quarters: one body of the maximum size, but not two. */
const inFlightBytesMax = 1024 * kibibyte;
const largeText = "x".repeat(300 * kibibyte);

let stack: Stack;
let otherKey: string;
/** A key of each of two other organizations. */
let neighbours: readonly string[];
const open = new Set<Socket>();

beforeAll(async () => {
  stack = await startStack({ gateway: { bodyBytesMax, inFlightBytesMax, keyRequestsMax: 8 } });
  otherKey = (await stack.tenants.createKey(stack)).secret;
  const organizations = [await stack.tenants.createOrganization(), await stack.tenants.createOrganization()];
  neighbours = organizations.map(({ apiKey }) => apiKey);
  expect((await stack.create("small")).status).toBe(200);
  expect((await createWithPrompt("large", largeText)).status).toBe(200);
});

afterAll(() => stack.close());

afterEach(async () => {
  for (const socket of open) socket.resetAndDestroy();
  open.clear();
  await nothingInFlight();
});

function createWithPrompt(slug: string, content: string) {
  return stack.create(slug, { messages: [{ role: "system", content }] });
}

const bytesInFlight = () => metricOf(stack.metricsUrl, "setpoint_inflight_bytes");
const refusals = (reason: string) => metricOf(stack.metricsUrl, "setpoint_refusals_total", `reason="${reason}"`);

async function nothingInFlight(): Promise<void> {
  await expect.poll(bytesInFlight).toBe(0);
}

interface Connection {
  readonly socket: Socket;
  /** What has arrived so far. */
  received(): string;
}

/** Sends raw bytes. A connection that does not read receives only what the network buffers. */
function send(text: string, { reads = true } = {}): Connection {
  const { port, hostname } = new URL(stack.baseUrl);
  const socket = connect(Number(port), hostname);
  let received = "";
  if (reads) {
    socket.on("data", (chunk) => {
      received += chunk;
    });
  } else {
    socket.pause();
  }
  socket.on("error", () => {});
  open.add(socket);
  socket.write(text);
  return { socket, received: () => received };
}

const head = (line: string, key: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, "host: test", `authorization: Bearer ${key}`, ...headers, "", ""].join("\r\n");

const postLine = "POST /api/v1/presets/announced/chat/completions";

/** Announces a body without sending any of it. */
function announce(bytes: number, key = stack.apiKey): Connection {
  return send(head(postLine, key, "content-type: application/json", `content-length: ${bytes}`));
}

/** Sends a body but for its last byte. */
function sendMost(bytes: number, key = stack.apiKey): Connection {
  const connection = announce(bytes, key);
  connection.socket.write(bodyOf(bytes).slice(0, -1));
  return connection;
}

/** Keeps requesting, so that the network buffers fill up eventually. */
function askOnWithoutReading(request: string): Connection {
  const connection = send(request, { reads: false });
  const asking = setInterval(() => connection.socket.write(request), 5);
  connection.socket.once("close", () => clearInterval(asking));
  return connection;
}

function bodyOf(bytes: number): string {
  const body = '{"messages":[]}';
  return body + " ".repeat(bytes - body.length);
}

function getOf(path: string, key = stack.apiKey): string {
  return head(`GET /api/v1${path}`, key);
}

/** And not only for a moment. */
async function inFlightAtLeast(bytes: number): Promise<void> {
  const looks: number[] = [];
  await vi.waitFor(
    async () => {
      looks.push(await bytesInFlight());
      expect(looks.length).toBeGreaterThan(2);
      expect(Math.min(...looks.slice(-3))).toBeGreaterThanOrEqual(bytes);
    },
    { timeout: 30_000, interval: 20 },
  );
}

describe("above the in-flight limits", () => {
  it("a key gets 429 for a further announced body while its first request completes", async () => {
    const before = await refusals("key_inflight");
    const first = sendMost(bodyBytesMax);
    await inFlightAtLeast(bodyBytesMax - 1);
    const second = announce(bodyBytesMax);
    await expect.poll(second.received).toContain('"code":429');
    expect(second.received()).toMatch(/^HTTP\/1\.1 429 /);
    for (const header of [
      "retry-after: 1",
      "x-ratelimit-limit: 8",
      "x-ratelimit-remaining: 0",
      "x-ratelimit-reset: 1",
    ]) {
      expect(second.received()).toContain(header);
    }
    expect(await refusals("key_inflight")).toBe(before + 1);
    first.socket.write(" ");
    await expect.poll(first.received).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("who announces bodies and does not send them keeps nobody out, not even their own key", async () => {
    for (const key of [stack.apiKey, ...neighbours]) announce(336 * kibibyte, key);
    await inFlightAtLeast(3 * 336 * kibibyte);
    for (const key of [stack.apiKey, otherKey, ...neighbours]) {
      expect((await stack.request("GET", "/presets", { key })).status).toBe(200);
    }
    await expect.poll(() => createWithPrompt(freshName("sent"), largeText)).toMatchObject({ status: 200 });
  });

  it("the keys of an organization get 429 for what other organizations need", async () => {
    const before = await refusals("organization_inflight");
    sendMost(bodyBytesMax);
    await inFlightAtLeast(bodyBytesMax - 1);
    const refused = announce(bodyBytesMax, otherKey);
    await expect.poll(refused.received).toContain("This organization has too many bytes in flight.");
    expect(refused.received()).toMatch(/^HTTP\/1\.1 429 /);
    expect(refused.received()).toContain("retry-after: 1");
    expect(await refusals("organization_inflight")).toBe(before + 1);
    sendMost(bodyBytesMax, neighbours[0]);
    await inFlightAtLeast(2 * bodyBytesMax - 2);
  });

  it("every key gets 503 when the process is full, and no single organization can fill it", async () => {
    const before = await refusals("process_bytes");
    sendMost(bodyBytesMax);
    sendMost(bodyBytesMax, neighbours[0]);
    await inFlightAtLeast(2 * bodyBytesMax - 2);
    const refused = announce(bodyBytesMax, neighbours[1]);
    await expect.poll(refused.received).toContain('"code":503');
    expect(refused.received()).toContain("retry-after: 1");
    expect(await refusals("process_bytes")).toBe(before + 1);
    expect(stack.log()).not.toContain('"msg":"request failed"');
    // Small requests are still answered, and so is the probe.
    expect((await stack.request("GET", "/presets/small", { key: otherKey })).status).toBe(200);
    expect((await fetch(`${stack.baseUrl}/healthz`)).status).toBe(200);
  });

  it("a body of unknown length gets 429 once it exceeds the limit, and stores nothing", async () => {
    const slug = freshName("streamed");
    sendMost(300 * kibibyte);
    await inFlightAtLeast(300 * kibibyte - 1);
    const chunks = Array.from({ length: 39 }, () => " ".repeat(10 * kibibyte));
    const headers = { authorization: `Bearer ${stack.apiKey}`, "content-type": "application/json" };
    const path = `/api/v1/presets/${slug}/chat/completions`;
    const answer = await requestRaw("POST", stack.baseUrl, path, { headers, chunks: ['{"messages":[]}', ...chunks] });
    expect(answer.status).toBe(429);
    expect((await stack.request("GET", `/presets/${slug}`, { key: stack.apiKey })).status).toBe(404);
    const fits = await requestRaw("POST", stack.baseUrl, path, {
      headers,
      chunks: ['{"messages":[]}', ...chunks.slice(30)],
    });
    expect(fits.status).toBe(200);
  });

  it("a key gets 429 for too many concurrent requests of any size", async () => {
    for (let n = 0; n < 8; n += 1) announce(100);
    await inFlightAtLeast(8 * 4 * kibibyte);
    expect((await stack.request("GET", "/presets/small", { key: stack.apiKey })).status).toBe(429);
    expect((await stack.request("GET", "/presets/small", { key: otherKey })).status).toBe(200);
  });

  it("a committed change is still answered", async () => {
    sendMost(bodyBytesMax);
    await inFlightAtLeast(bodyBytesMax - 1);
    expect((await stack.request("GET", "/presets/large", { key: stack.apiKey })).status).toBe(429);
    const change = await stack.request("PATCH", "/presets/large", { key: stack.apiKey, body: { name: "Told" } });
    expect(change).toMatchObject({ status: 200, json: { data: { name: "Told" } } });
  });

  it("the docs return 503 without cache headers", async () => {
    const assets = `${stack.baseUrl}/docs/static/swagger-ui-bundle.js`;
    const answer = await fetch(assets);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("cache-control")).toBeNull();
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(await answer.json()).toMatchObject({ error: { code: 503 } });
  });
});

describe("clients that do not read", () => {
  it("are rejected before their answers fill the memory, and leave nothing behind", async () => {
    // Which of the three is full first depends on whose answers are waiting.
    const reasons = ["process_bytes", "organization_inflight", "key_inflight"];
    const refusedInAll = async () => (await Promise.all(reasons.map(refusals))).reduce((sum, count) => sum + count);
    const before = await refusedInAll();
    const keys = [stack.apiKey, otherKey, stack.managementKey];
    for (let n = 0; n < 24; n += 1) askOnWithoutReading(getOf("/presets/large", keys[n % 3]));
    await inFlightAtLeast(largeText.length);
    const looks: number[] = [];
    await vi.waitFor(
      async () => {
        looks.push(await bytesInFlight());
        expect((await refusedInAll()) - before).toBeGreaterThan(100);
      },
      { timeout: 30_000 },
    );
    expect(Math.max(...looks)).toBeLessThanOrEqual(inFlightBytesMax);
    for (const socket of open) socket.resetAndDestroy();
    await nothingInFlight();
    expect((await stack.request("GET", "/presets/large", { key: stack.apiKey })).status).toBe(200);
  });
});

describe("nothing stays in flight", () => {
  const json = { "content-type": "application/json" };
  const path = "/presets/small";
  type Parts = NonNullable<Parameters<typeof requestRaw>[3]>;

  it.each<[string, number, string, string, Parts]>([
    ["a creation", 200, "POST", `${path}/chat/completions`, { headers: json, chunks: ['{"messages":[]}'] }],
    ["a read", 200, "GET", path, {}],
    ["a large read", 200, "GET", "/presets/large", {}],
    ["a read with a body", 200, "GET", path, { headers: { "content-length": "4" }, chunks: ["body"] }],
    ["a HEAD", 200, "HEAD", "/presets/large", {}],
    ["a page", 200, "GET", "/presets/large/versions", {}],
    ["a 304", 304, "GET", path, { headers: { "if-none-match": "*" } }],
    ["malformed JSON", 400, "POST", `${path}/chat/completions`, { headers: json, chunks: ["{"] }],
    ["invalid UTF-8", 400, "POST", `${path}/messages`, { headers: json, chunks: [Buffer.from([0xff])] }],
    ["a bad slug", 400, "POST", "/presets/-/chat/completions", { headers: json, chunks: ['{"messages":[]}'] }],
    ["a bad query", 400, "GET", "/presets?limit=0", {}],
    ["a bad workspace", 400, "GET", "/presets?workspace_id=bad", {}],
    ["no key", 401, "GET", path, { headers: { authorization: "" } }],
    ["a key of another kind", 401, "GET", "/organization/members", {}],
    ["a missing preset", 404, "GET", "/presets/none", {}],
    ["an unknown path", 404, "POST", "/none", { headers: json, chunks: ["{}"] }],
    ["a wrong method", 405, "PUT", path, { headers: json, chunks: ["{}"] }],
    [
      "a body that is too large",
      413,
      "POST",
      `${path}/messages`,
      { headers: json, chunks: ["x".repeat(bodyBytesMax + 1)] },
    ],
    [
      "a body that is announced too large",
      413,
      "POST",
      `${path}/messages`,
      { headers: { ...json, "content-length": String(bodyBytesMax + 1) }, chunks: ["x".repeat(bodyBytesMax + 1)] },
    ],
    [
      "another content type",
      415,
      "POST",
      `${path}/messages`,
      { headers: { "content-type": "text/plain" }, chunks: ["{}"] },
    ],
    [
      "a compressed body",
      415,
      "POST",
      `${path}/messages`,
      { headers: { ...json, "content-encoding": "gzip" }, chunks: ["{}"] },
    ],
  ])("after %s", async (_name, status, method, target, { headers, ...parts }) => {
    const authorized = { authorization: `Bearer ${stack.apiKey}`, ...headers };
    const answer = await requestRaw(method, stack.baseUrl, `/api/v1${target}`, { headers: authorized, ...parts });
    expect(answer.status).toBe(status);
    await nothingInFlight();
  });

  it.each(["/docs", "/openapi.json", "/healthz", "/readyz", "/docs/none"])("after GET %s", async (target) => {
    await (await fetch(`${stack.baseUrl}${target}`)).text();
    await nothingInFlight();
  });

  it.each<[string, () => Connection, number]>([
    ["announced a body", () => announce(bodyBytesMax), bodyBytesMax],
    [
      "sent half a body",
      () => {
        const connection = announce(bodyBytesMax);
        connection.socket.write(bodyOf(bodyBytesMax).slice(bodyBytesMax / 2));
        return connection;
      },
      bodyBytesMax,
    ],
    [
      "sent some chunks of a body",
      () =>
        send(
          `${head(postLine, stack.apiKey, "content-type: application/json", "transfer-encoding: chunked")}40000\r\n${" ".repeat(0x40000)}\r\n`,
        ),
      0x40000,
    ],
    [
      "pipelined a request after one that waits for its body",
      () => {
        const connection = announce(bodyBytesMax);
        connection.socket.write(
          `${bodyOf(bodyBytesMax)}${head(postLine, stack.apiKey, "content-type: application/json", "content-length: 1000")}`,
        );
        return connection;
      },
      1,
    ],
    ["read nothing of its answers", () => askOnWithoutReading(getOf("/presets/large")), largeText.length],
    ["read nothing of the document", () => askOnWithoutReading(head("GET /openapi.json", stack.apiKey)), 8 * kibibyte],
  ])("after a client disconnects that %s", async (_name, act, bytes) => {
    const { socket } = act();
    await inFlightAtLeast(bytes);
    socket.resetAndDestroy();
    await nothingInFlight();
  });

  it.each([
    ["goes on", () => {}],
    ["breaks its connection", (socket: Socket) => socket.resetAndDestroy()],
  ])("after a client whose chunks exceed the limit %s", async (_name, then) => {
    const chunk = `40000\r\n${" ".repeat(0x40000)}\r\n`;
    const connection = send(
      head(postLine, stack.apiKey, "content-type: application/json", "transfer-encoding: chunked") + chunk + chunk,
    );
    await vi.waitFor(() => expect(connection.received()).toContain(`at most ${bodyBytesMax} bytes`));
    // More than the key may have in flight. Of a refused body nothing is counted, and no error goes unhandled.
    connection.socket.write(chunk.repeat(3));
    then(connection.socket);
    await nothingInFlight();
    expect((await fetch(`${stack.baseUrl}/healthz`)).status).toBe(200);
  });

  it("after clients that disconnect at random moments", async () => {
    const request =
      head(postLine, stack.apiKey, "content-type: application/json", "content-length: 20000") + bodyOf(20_000);
    for (let n = 0; n < 60; n += 1) {
      const { socket } = send(request.slice(0, Math.ceil((request.length * (n + 1)) / 50)));
      await new Promise((resolve) => setTimeout(resolve, n % 7));
      socket.resetAndDestroy();
    }
    await nothingInFlight();
    // Their quotas are released as well: as many requests as before are admitted.
    for (let n = 0; n < 8; n += 1) announce(100);
    await inFlightAtLeast(8 * 4 * kibibyte);
  });
});
