import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { httpTimeouts } from "../../services/platform/http/http-server.ts";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { GatewaySigns } from "../support/gateway-signs.ts";
import { statementsBehindLock } from "../support/lock-waits.ts";
import { RawConnection } from "../support/raw-connection.ts";
import { type Stack, startStack } from "../support/stack.ts";

// Callers who take their time, to send or to read. Each has a bound, far below the time that the test waits.

const timeouts = {
  ...httpTimeouts,
  headersMs: 1_000,
  requestMs: 2_000,
  stalledMs: 5_000,
  lingerMs: 1_500,
  checkMs: 100,
};
const soon = { timeout: 25_000, interval: 100 };
const mebibyte = 1024 * 1024;

let stack: Stack;
let opened: RawConnection[];
let signs: GatewaySigns;

beforeAll(async () => {
  stack = await startStack({ gateway: { httpTimeouts: timeouts } });
  signs = new GatewaySigns(stack);
});

afterAll(() => stack.close());

beforeEach(() => {
  opened = [];
  signs.clearLog();
});

afterEach(async () => {
  for (const connection of opened) connection.hangUp();
  await expect.poll(signs.connections, soon).toBe(0);
  expect(signs.faults()).toEqual([]);
});

async function open(): Promise<RawConnection> {
  const connection = await RawConnection.open(stack.baseUrl);
  opened.push(connection);
  return connection;
}

function head(
  length: string,
  { path = "presets/slow/chat/completions", key = stack.apiKey, type = "json" } = {},
): string {
  return [
    `POST /api/v1/${path} HTTP/1.1`,
    "Host: test",
    `Authorization: Bearer ${key}`,
    `Content-Type: application/${type}`,
    `${length}\r\n\r\n`,
  ].join("\r\n");
}

/** Sends a byte now and then, until the other side has closed. */
async function trickle(connection: RawConnection, text: string): Promise<void> {
  for (const started = performance.now(); !connection.isClosed && performance.now() - started < soon.timeout; ) {
    connection.send(text);
    await sleep(200);
  }
}

describe("a request that does not arrive", () => {
  it.each([
    ["nothing of it", () => "", []],
    ["half of its headers", () => "GET /api/v1/presets HTTP/1.1\r\nHost: te", [408]],
    ["nothing of its body", () => head("Content-Length: 100"), [408]],
    ["half of its body", () => `${head("Content-Length: 100")}{"mess`, [408]],
    ["half of its chunks", () => `${head("Transfer-Encoding: chunked")}1\r\n{\r\n`, [408]],
    ["half of the second in a row", () => `${creation()}${head("Content-Length: 100")}`, [200, 408]],
  ])("is not waited for: %s", async (_name, sent, statuses) => {
    const connection = await open();
    if (sent()) connection.send(sent());
    await connection.closed();
    await expect.poll(signs.connections, soon).toBe(0);
    expect(connection.statuses).toEqual(statuses);
    await expect.poll(signs.logged, soon).toEqual(statuses);
  });

  it("is not waited for, however many there are", async () => {
    const count = 80;
    for (let index = 0; index < count; index++) (await open()).send(`${head("Content-Length: 100")}{`);
    for (const connection of opened) await connection.closed();
    await expect.poll(signs.connections, soon).toBe(0);
    await expect.poll(signs.logged, soon).toEqual(Array(count).fill(408));
  });

  it.each([
    ["headers", "GET /api/v1/presets HTTP/1.1\r\n", "x: y\r\n"],
    ["body", () => head("Transfer-Encoding: chunked"), "1\r\n \r\n"],
  ])("is not waited for where a little of its %s comes again and again", async (_name, sent, more) => {
    const connection = await open();
    connection.send(typeof sent === "string" ? sent : sent());
    await trickle(connection, more);
    expect(connection.statuses).toEqual([408]);
  });
});

function creation(slug = "slow"): string {
  const body = '{"messages":[]}';
  return head(`Content-Length: ${body.length}`, { path: `presets/${slug}/chat/completions` }) + body;
}

describe("a refused request", () => {
  const refusals: [number, () => string][] = [
    [401, () => head("Transfer-Encoding: chunked", { key: "wrong" })],
    [404, () => head("Transfer-Encoding: chunked", { path: "nothing" })],
    [405, () => head("Transfer-Encoding: chunked", { path: "presets" })],
    [413, () => head("Content-Length: 1000000000")],
    [415, () => head("Transfer-Encoding: chunked", { type: "xml" })],
  ];

  it.each(refusals)(
    "with %d is answered at once and does not hold its connection while its body trickles in",
    async (status, sent) => {
      const connection = await open();
      connection.send(sent());
      await expect.poll(() => connection.statuses, soon).toEqual([status]);
      await trickle(connection, "1\r\n \r\n");
      expect(connection.isClosed).toBe(true);
      expect(connection.statuses[0]).toBe(status);
      await expect.poll(signs.logged, soon).toEqual([status]);
    },
  );

  it.each(refusals)("with %d does not hold its connection where the body never comes", async (status, sent) => {
    const connection = await open();
    connection.send(sent());
    await connection.closed();
    expect(connection.statuses).toEqual([status]);
    await expect.poll(signs.logged, soon).toEqual([status]);
  });

  it("does not receive a body without end", async () => {
    const connection = await open();
    connection.send(head("Transfer-Encoding: chunked", { key: "wrong" }));
    const chunk = `100000\r\n${"x".repeat(mebibyte)}\r\n`;
    let sent = 0;
    for (; !connection.isClosed && sent < 1_000; sent++) await connection.sent(chunk);
    expect(sent).toBeLessThan(200);
    await expect.poll(signs.logged, soon).toEqual([401]);
  });

  it("keeps its connection where the body comes to its end", async () => {
    const connection = await open();
    connection.send(head("Content-Length: 10", { key: "wrong" }));
    await expect.poll(() => connection.statuses).toEqual([401]);
    connection.send(`0123456789${creation()}`);
    await expect.poll(() => connection.statuses).toEqual([401, 200]);
  });
});

describe("an answer that is not read", () => {
  it.each([
    ["one", 1],
    ["many in a row", 40],
  ])("is not kept for ever: %s", async (_name, count) => {
    const body = JSON.stringify({ messages: [{ role: "system", content: "x".repeat(mebibyte) }] });
    const stored = await stack.create("large", body, { headers: { connection: "close" } });
    expect(stored.status).toBe(200);
    signs.clearLog();
    const connection = await open();
    connection.pause();
    const request = `GET /api/v1/presets/large HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${stack.apiKey}\r\n\r\n`;
    connection.send(request.repeat(count));
    // More than the two kernels hold for us.
    for (let more = 0; more < 20; more++) connection.send(request);
    await expect.poll(signs.connections, soon).toBe(1);
    await expect.poll(signs.connections, soon).toBe(0);
    await expect.poll(signs.logged, soon).toContain(499);
  });
});

describe("an answer of several parts that is not read", () => {
  it("is not kept for ever, either", async () => {
    for (let version = 0; version < 8; version++) {
      const body = JSON.stringify({ messages: [{ role: "system", content: "x".repeat(mebibyte) }] });
      await stack.create("large-page", body, { headers: { connection: "close" } });
    }
    signs.clearLog();
    const connection = await open();
    connection.pause();
    const request = `GET /api/v1/presets/large-page/versions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${stack.apiKey}\r\n\r\n`;
    // More than the two kernels hold for us.
    connection.send(request.repeat(5));
    await expect.poll(signs.connections, soon).toBe(1);
    await expect.poll(signs.connections, soon).toBe(0);
    await expect.poll(signs.logged, soon).toContain(499);
  });
});

describe("requests in a row on one connection", () => {
  beforeAll(async () => {
    // They are not slow: it is they who wait.
    await stack.gateway.stop();
    await stack.gateway.start({ httpTimeouts });
  });

  const members = () =>
    `GET /api/v1/organization/members HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${stack.managementKey}\r\n\r\n`;

  it("are all answered, in their order, however many there are", async () => {
    const count = 1_000;
    const connection = await open();
    for (let index = 0; index < count; index++) {
      connection.send(index % 3 === 0 ? members().replace("members", `nothing-${index}`) : members());
    }
    await expect.poll(() => connection.statuses.length, soon).toBe(count);
    expect(connection.statuses).toEqual(Array.from({ length: count }, (_, index) => (index % 3 === 0 ? 404 : 200)));
    await expect.poll(signs.logged, soon).toHaveLength(count);
  });

  it("are worked on a few at a time, and the rest not at all where the caller has gone", async () => {
    const lock = await stack.presetPool.getConnection();
    try {
      await lock.query("LOCK TABLES presets WRITE");
      const connection = await open();
      for (let index = 0; index < 200; index++) connection.send(creation(`in-a-row-${index}`));
      await expect.poll(() => statementsBehindLock(stack.presetPool), soon).toBeGreaterThan(0);
      // Time to begin as many as it would.
      await sleep(500);
      connection.reset();
      await expect.poll(signs.logged, soon).toContain(499);
    } finally {
      await lock.query("UNLOCK TABLES");
      lock.release();
    }
    expect(new Set(signs.logged())).toEqual(new Set([499]));
    await expect.poll(stored, soon).toBeGreaterThan(0);
    await sleep(500);
    expect(await stored()).toBeLessThan(20);
  });

  async function stored(): Promise<number> {
    const [rows] = await stack.presetPool.query<RowDataPacket[]>("SELECT id FROM presets WHERE slug LIKE 'in-a-row-%'");
    return rows.length;
  }
});
