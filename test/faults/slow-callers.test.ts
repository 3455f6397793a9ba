import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { httpTimeouts } from "../../services/platform/http/http-server.ts";
import type { RowDataPacket } from "../../services/platform/mysql/pool.ts";
import { GatewayTelemetry } from "../support/gateway-telemetry.ts";
import { statementsBehindLock } from "../support/lock-waits.ts";
import { RawConnection } from "../support/raw-connection.ts";
import { type Stack, startStack } from "../support/stack.ts";

// Callers who take their time, to send or to read. Each has a bound, far below the time that the test waits. Those that
// are alike come at once, so that they are waited for together.

const timeouts = {
  ...httpTimeouts,
  headersMs: 1_000,
  requestMs: 2_000,
  stalledMs: 3_000,
  lingerMs: 1_500,
  checkMs: 100,
};
const soon = { timeout: 25_000, interval: 100 };
const mebibyte = 1024 * 1024;

let stack: Stack;
let opened: RawConnection[];
let telemetry: GatewayTelemetry;

beforeAll(async () => {
  stack = await startStack({ gateway: { httpTimeouts: timeouts } });
  telemetry = new GatewayTelemetry(stack);
});

afterAll(() => stack.close());

beforeEach(() => {
  opened = [];
  telemetry.clearLog();
});

afterEach(async () => {
  for (const connection of opened) connection.hangUp();
  await expect.poll(telemetry.connections, soon).toBe(0);
  expect(telemetry.faults()).toEqual([]);
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

/** Sends a byte now and then until the other side has closed. */
async function trickle(connection: RawConnection, text: string): Promise<void> {
  for (const started = performance.now(); !connection.isClosed && performance.now() - started < soon.timeout; ) {
    connection.send(text);
    await sleep(200);
  }
}

/** Lets each of them do something on a connection of its own, all at the same time. Returns what each was answered. */
async function answersTo<Name extends string | number>(
  callers: readonly (readonly [Name, sent: string])[],
  act: (connection: RawConnection, name: Name) => Promise<unknown>,
): Promise<[Name, number[]][]> {
  return Promise.all(
    callers.map(async ([name, sent]): Promise<[Name, number[]]> => {
      const connection = await open();
      if (sent) connection.send(sent);
      await act(connection, name);
      return [name, connection.statuses];
    }),
  );
}

const loggedInOrder = () => telemetry.logged().sort();

describe("a request that does not arrive completely", () => {
  it("times out, whatever part of it is missing", async () => {
    const expected: [string, string, number[]][] = [
      ["all", "", []],
      ["half of its headers", "GET /api/v1/presets HTTP/1.1\r\nHost: te", [408]],
      ["its body", head("Content-Length: 100"), [408]],
      ["half of its body", `${head("Content-Length: 100")}{"mess`, [408]],
      ["half of its chunks", `${head("Transfer-Encoding: chunked")}1\r\n{\r\n`, [408]],
      ["half of the second in a row", `${creation()}${head("Content-Length: 100")}`, [200, 408]],
    ];
    const callers = expected.map(([name, sent]) => [name, sent] as const);
    const answers = await answersTo(callers, (connection) => connection.closed());
    expect(answers).toEqual(expected.map(([name, , statuses]) => [name, statuses]));
    await expect.poll(telemetry.connections, soon).toBe(0);
    await expect.poll(loggedInOrder, soon).toEqual(expected.flatMap(([, , statuses]) => statuses).sort());
  });

  it("times out, however many there are", async () => {
    const count = 80;
    for (let index = 0; index < count; index++) (await open()).send(`${head("Content-Length: 100")}{`);
    for (const connection of opened) await connection.closed();
    await expect.poll(telemetry.connections, soon).toBe(0);
    await expect.poll(telemetry.logged, soon).toEqual(Array(count).fill(408));
  });

  it.each([
    ["headers", "GET /api/v1/presets HTTP/1.1\r\n", "x: y\r\n"],
    ["body", () => head("Transfer-Encoding: chunked"), "1\r\n \r\n"],
  ])("times out even if its %s trickles in", async (_name, sent, more) => {
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

describe("a rejected request", () => {
  const statuses = [401, 404, 405, 413, 415];
  const refused = (): [number, string][] => [
    [401, head("Transfer-Encoding: chunked", { key: "wrong" })],
    [404, head("Transfer-Encoding: chunked", { path: "nothing" })],
    [405, head("Transfer-Encoding: chunked", { path: "presets" })],
    [413, head("Content-Length: 1000000000")],
    [415, head("Transfer-Encoding: chunked", { type: "xml" })],
  ];

  it("is answered at once and does not hold its connection while its body trickles in", async () => {
    const answers = await answersTo(refused(), async (connection, status) => {
      await expect.poll(() => connection.statuses, soon).toEqual([status]);
      await trickle(connection, "1\r\n \r\n");
      expect(connection.isClosed).toBe(true);
    });
    expect(answers.map(([, [first]]) => first)).toEqual(statuses);
    await expect.poll(loggedInOrder, soon).toEqual(statuses);
  });

  it("does not hold its connection if the body never arrives", async () => {
    const answers = await answersTo(refused(), (connection) => connection.closed());
    expect(answers).toEqual(statuses.map((status) => [status, [status]]));
    await expect.poll(loggedInOrder, soon).toEqual(statuses);
  });

  it("does not accept an endless body", async () => {
    const connection = await open();
    connection.send(head("Transfer-Encoding: chunked", { key: "wrong" }));
    const chunk = `100000\r\n${"x".repeat(mebibyte)}\r\n`;
    let sent = 0;
    for (; !connection.isClosed && sent < 1_000; sent++) await connection.sent(chunk);
    expect(sent).toBeLessThan(200);
    await expect.poll(telemetry.logged, soon).toEqual([401]);
  });

  it("keeps its connection if the body completes", async () => {
    const connection = await open();
    connection.send(head("Content-Length: 10", { key: "wrong" }));
    await expect.poll(() => connection.statuses).toEqual([401]);
    connection.send(`0123456789${creation()}`);
    await expect.poll(() => connection.statuses).toEqual([401, 200]);
  });
});

describe("an answer that is not read", () => {
  it("times out: pipelined, many or in several parts", async () => {
    const body = JSON.stringify({ messages: [{ role: "system", content: "x".repeat(mebibyte) }] });
    for (let version = 0; version < 8; version++) {
      expect((await stack.create("large", body, { headers: { connection: "close" } })).status).toBe(200);
    }
    telemetry.clearLog();
    const get = (path: string) =>
      `GET /api/v1/presets/${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${stack.apiKey}\r\n\r\n`;
    // More than the kernel buffers on both sides hold.
    for (const requests of [get("large").repeat(21), get("large").repeat(60), get("large/versions").repeat(5)]) {
      const connection = await open();
      connection.pause();
      connection.send(requests);
    }
    await expect.poll(telemetry.connections, soon).toBe(3);
    await expect.poll(telemetry.connections, soon).toBe(0);
    const gone = (path: string) => () => telemetry.counted(`GET /api/v1/presets/${path}`, 499);
    await expect.poll(gone(":slug"), soon).toBeGreaterThanOrEqual(2);
    await expect.poll(gone(":slug/versions"), soon).toBeGreaterThanOrEqual(1);
  });
});

describe("pipelined requests on one connection", () => {
  beforeAll(async () => {
    // They are not slow; they only wait.
    await stack.gateway.stop();
    await stack.gateway.start({ httpTimeouts });
  });

  const members = () =>
    `GET /api/v1/organization/members HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${stack.managementKey}\r\n\r\n`;

  it("are all answered in order, however many there are", async () => {
    const count = 1_000;
    const connection = await open();
    for (let index = 0; index < count; index++) {
      connection.send(index % 3 === 0 ? members().replace("members", `nothing-${index}`) : members());
    }
    await expect.poll(() => connection.statuses.length, soon).toBe(count);
    expect(connection.statuses).toEqual(Array.from({ length: count }, (_, index) => (index % 3 === 0 ? 404 : 200)));
    await expect.poll(telemetry.logged, soon).toHaveLength(count);
  });

  it("sent all at once are answered in many turns of the event loop, so that others need not wait for all", async () => {
    const count = 1_000;
    const connection = await open();
    connection.send("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n".repeat(count));
    expect(await connection.largestShareInOneTurn(count)).toBeLessThan(0.2);
  });

  it("are taken while few wait behind others; after that, what is sent ahead closes its connection", async () => {
    const count = 1_500;
    const nothing = "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n".repeat(count);
    const flood = await Promise.all(Array.from({ length: 12 }, open));
    for (const connection of flood) connection.send(nothing);
    const isSettled = (each: RawConnection) => each.isClosed || each.statuses.length === count;
    await expect.poll(() => flood.every(isSettled), soon).toBe(true);
    // Those that were taken are answered.
    expect(Math.min(...flood.map(({ statuses }) => statuses.length))).toBeGreaterThanOrEqual(8);
    for (const { received } of flood) expect(received).toMatch(/"code":404.*\}$/);
    expect(flood.flatMap(({ statuses }) => statuses).length).toBeLessThan((flood.length * count) / 2);
    for (const connection of flood) connection.hangUp();
    // And nothing stays counted, whether it was answered or its caller left.
    for (let times = 0; times < 3; times += 1) {
      const left = await open();
      await left.sent(nothing);
      left.reset();
    }
    const next = await open();
    next.send(nothing);
    await expect.poll(() => next.statuses.length, soon).toBe(count);
  });

  it("that were not taken may be followed by more, which is dropped", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    const lock = await stack.presetPool.getConnection();
    try {
      await lock.query("LOCK TABLES presets WRITE");
      const read = `GET /api/v1/presets/none HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${stack.apiKey}\r\n\r\n`;
      // More than may wait.
      const others = await Promise.all(Array.from({ length: 16 }, open));
      for (const connection of others) await connection.sent(read.repeat(400));
      const last = await open();
      for (let packet = 0; packet < 30; packet += 1) {
        await last.sent(read.repeat(20));
        await sleep(10);
      }
      await lock.query("UNLOCK TABLES");
      await expect.poll(() => last.isClosed, soon).toBe(true);
      expect(last.statuses).toEqual(Array.from({ length: 8 }, () => 404));
      expect(last.received.match(/^connection: close\r$/gm)).toHaveLength(1);
      expect(warnings).toEqual([]);
    } finally {
      process.off("warning", note);
      await lock.query("UNLOCK TABLES");
      lock.release();
    }
  });

  it("are processed a few at a time, and the rest dropped if the caller disconnects", async () => {
    const lock = await stack.presetPool.getConnection();
    try {
      await lock.query("LOCK TABLES presets WRITE");
      const connection = await open();
      for (let index = 0; index < 200; index++) connection.send(creation(`in-a-row-${index}`));
      await expect.poll(() => statementsBehindLock(stack.presetPool), soon).toBeGreaterThan(0);
      // Time to start as many as it would.
      await sleep(500);
      connection.reset();
      await expect.poll(telemetry.logged, soon).toContain(499);
    } finally {
      await lock.query("UNLOCK TABLES");
      lock.release();
    }
    expect(new Set(telemetry.logged())).toEqual(new Set([499]));
    await expect.poll(stored, soon).toBeGreaterThan(0);
    await sleep(500);
    expect(await stored()).toBeLessThan(20);
  });

  async function stored(): Promise<number> {
    const [rows] = await stack.presetPool.query<RowDataPacket[]>("SELECT id FROM presets WHERE slug LIKE 'in-a-row-%'");
    return rows.length;
  }
});
