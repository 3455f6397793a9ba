import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { httpTimeouts } from "../../services/platform/http/http-server.ts";
import type { PoolConnection } from "../../services/platform/mysql/pool.ts";
import { freshName } from "../support/fresh-name.ts";
import { GatewayTelemetry } from "../support/gateway-telemetry.ts";
import { statementsBehindLock, waitsForLock } from "../support/lock-waits.ts";
import { lastBody, RawConnection } from "../support/raw-connection.ts";
import { type Stack, startStack } from "../support/stack.ts";

// What callers do to their connections at every point of a request. None of it may leave anything behind.

const drainTimeoutMs = 15_000;
/** Generous, but far from the times that would hide a leak. */
const soon = { timeout: 9_000, interval: 50 };

let stack: Stack;
let telemetry: GatewayTelemetry;

beforeAll(async () => {
  stack = await startStack({ gateway: { drainTimeoutMs, httpTimeouts: { ...httpTimeouts, checkMs: 100 } } });
  telemetry = new GatewayTelemetry(stack);
});

afterAll(() => stack.close());

beforeEach(async () => {
  await expect.poll(telemetry.connections, soon).toBe(0);
  telemetry.clearLog();
});

/** No connection is left, and nothing was logged as an error. */
afterEach(async () => {
  await expect.poll(telemetry.connections, soon).toBe(0);
  expect(telemetry.faults()).toEqual([]);
});

function open(): Promise<RawConnection> {
  return RawConnection.open(stack.baseUrl);
}

function head(length: string, { slug = "hung-up", key = stack.apiKey } = {}): string {
  return [
    `POST /api/v1/presets/${slug}/chat/completions HTTP/1.1`,
    "Host: test",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `${length}\r\n\r\n`,
  ].join("\r\n");
}

const good = '{"messages":[]}';

function creation(slug?: string): string {
  return head(`Content-Length: ${good.length}`, slug === undefined ? {} : { slug }) + good;
}

function read(path: string, key = stack.apiKey): string {
  return `GET /api/v1/presets${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${key}\r\n\r\n`;
}

/** On a connection that is closed again: `fetch` would keep its own. */
async function create(slug: string): Promise<void> {
  const connection = await open();
  connection.send(creation(slug));
  connection.halfClose();
  await connection.closed();
  expect(connection.statuses).toEqual([200]);
}

const operation = "POST /api/v1/presets/:slug/chat/completions";

/** What a caller may have sent when it disconnects. */
const inMidBody: [string, () => string][] = [
  ["in mid-body", () => `${head("Content-Length: 1000")}{"mess`],
  ["in a body of 9 MiB", () => `${head(`Content-Length: ${9 * 1024 * 1024 + 1}`)}${" ".repeat(9 * 1024 * 1024)}`],
  ["in mid-body, chunked", () => `${head("Transfer-Encoding: chunked")}5\r\n{"mes`],
  ["between two chunks", () => `${head("Transfer-Encoding: chunked")}1\r\n{\r\n`],
  ["before the body", () => head("Content-Length: 1000")],
  [
    "in mid-body, with an upgrade request",
    () => `${head("Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 1000")}{"mess`,
  ],
];

const waysToLeave: [string, (connection: RawConnection) => void][] = [
  ["with a reset", (connection) => connection.reset()],
  ["by closing", (connection) => connection.hangUp()],
];

describe("a caller that hangs up", () => {
  describe.each(waysToLeave)("%s", (_name, leave) => {
    it.each(inMidBody)("%s is logged as 499, or as 400 if that answer came first", async (_where, sent) => {
      const before = (await telemetry.counted(operation, 499)) + (await telemetry.counted(operation, 400));
      const connection = await open();
      connection.send(sent());
      await expect.poll(telemetry.connections, soon).toBe(1);
      leave(connection);
      await expect.poll(telemetry.logged, soon).toHaveLength(1);
      expect([400, 499]).toContain(telemetry.logged()[0]);
      expect((await telemetry.counted(operation, 499)) + (await telemetry.counted(operation, 400))).toBe(before + 1);
    });

    it.each(["", "POST /api/v1/presets/a/messages HTTP/1.1\r\nHost: te"])(
      "after %j leaves no connection",
      async (sent) => {
        const connection = await open();
        if (sent) connection.send(sent);
        await expect.poll(telemetry.connections, soon).toBe(1);
        leave(connection);
        await expect.poll(telemetry.connections, soon).toBe(0);
      },
    );

    it("while its key is checked is logged as 499, or as 400 for an incomplete request", async () => {
      const { apiKey: key } = await stack.tenants.createOrganization();
      await locked(stack.organizationPool, "LOCK TABLES api_keys WRITE", "UNLOCK TABLES", async () => {
        for (const sent of [
          head(`Content-Length: ${good.length}`, { key }) + good,
          head("Content-Length: 9", { key }),
        ]) {
          const connection = await open();
          connection.send(sent);
          await expect.poll(telemetry.connections, soon).toBe(1);
          leave(connection);
          await expect.poll(telemetry.connections, soon).toBe(0);
        }
        await expect.poll(telemetry.logged, soon).toHaveLength(2);
        const [complete, incomplete] = telemetry.logged();
        expect(complete).toBe(499);
        expect([400, 499]).toContain(incomplete);
      });
    });

    it("while its key is checked gets no service called", async () => {
      const { apiKey: key } = await stack.tenants.createOrganization();
      const callCount = () => ends("ListPresets").length + ends("CreateVersion").length;
      const before = callCount();
      await locked(stack.organizationPool, "LOCK TABLES api_keys WRITE", "UNLOCK TABLES", async () => {
        for (const sent of [read("", key), head(`Content-Length: ${good.length}`, { key }) + good]) {
          const connection = await open();
          connection.send(sent);
          await expect.poll(telemetry.connections, soon).toBe(1);
          leave(connection);
          await expect.poll(telemetry.connections, soon).toBe(0);
        }
      });
      const exchanged = await stack.request("GET", "/key", { key, headers: { connection: "close" } });
      expect(exchanged.status).toBe(200);
      // Calls would end a moment later.
      await sleep(200);
      expect(callCount()).toBe(before);
    });

    it("while its request is processed is logged as 499, once", async () => {
      await create("worked-on");
      telemetry.clearLog();
      const lock = "SELECT slug FROM presets WHERE slug = 'worked-on' FOR UPDATE";
      const before = await telemetry.counted(operation, 499);
      await locked(stack.presetPool, ["START TRANSACTION", lock], "ROLLBACK", async () => {
        const connection = await open();
        connection.send(creation("worked-on"));
        await expect.poll(telemetry.connections, soon).toBe(1);
        leave(connection);
        await expect.poll(telemetry.logged, soon).toEqual([499]);
      });
      await create("after-it");
      await expect.poll(telemetry.logged, soon).toEqual([499, 200]);
      expect(await telemetry.counted(operation, 499)).toBe(before + 1);
    });

    it("while its change waits for a lock changes nothing", async () => {
      const slug = freshName("not-changed");
      await create(slug);
      telemetry.clearLog();
      const body = '{"name":"Changed"}';
      const change = [
        `PATCH /api/v1/presets/${slug} HTTP/1.1`,
        "Host: test",
        `Authorization: Bearer ${stack.apiKey}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}\r\n\r\n${body}`,
      ].join("\r\n");
      const lock = `SELECT slug FROM presets WHERE slug = '${slug}' FOR UPDATE`;
      await locked(stack.presetPool, ["START TRANSACTION", lock], "ROLLBACK", async () => {
        const connection = await open();
        connection.send(change);
        await expect.poll(() => waitsForLock(stack.presetPool), soon).toBe(true);
        leave(connection);
        await expect.poll(telemetry.logged, soon).toEqual([499]);
      });
      const { json } = await stack.request("GET", `/presets/${slug}/changes`, {
        key: stack.apiKey,
        headers: { connection: "close" },
      });
      expect(json.total_count).toBe(1);
    });

    it.each([
      ["list", "", "ListPresets"],
      ["preset", "/read", "GetPreset"],
      ["history", "/read/versions", "ListVersions"],
    ])("while its %s is being read is logged as 499, and the read is canceled", async (_what, path, rpc) => {
      await create("read");
      telemetry.clearLog();
      const endsBefore = ends(rpc).length;
      await locked(stack.presetPool, "LOCK TABLES presets WRITE", "UNLOCK TABLES", async () => {
        const connection = await open();
        connection.send(read(path));
        await expect.poll(() => statementsBehindLock(stack.presetPool), soon).toBe(1);
        leave(connection);
        await expect.poll(telemetry.logged, soon).toEqual([499]);
        // The service hears of it a moment later.
        await sleep(200);
      });
      await expect.poll(() => ends(rpc).slice(endsBefore), soon).toEqual(["CANCELED"]);
    });
  });

  it("with a reset in mid-body is logged as 499, not as an error", async () => {
    const connection = await open();
    connection.send(`${head("Content-Length: 1000")}{"mess`);
    await expect.poll(telemetry.connections, soon).toBe(1);
    connection.reset();
    await expect.poll(telemetry.logged, soon).toEqual([499]);
  });

  it("with pipelined requests is logged as 499 for each unanswered one", async () => {
    await create("in-a-row");
    telemetry.clearLog();
    const lock = "SELECT slug FROM presets WHERE slug = 'in-a-row' FOR UPDATE";
    await locked(stack.presetPool, ["START TRANSACTION", lock], "ROLLBACK", async () => {
      const connection = await open();
      connection.send(creation("in-a-row") + creation("in-a-row") + creation("in-a-row"));
      await expect.poll(telemetry.connections, soon).toBe(1);
      connection.reset();
      await expect.poll(telemetry.logged, soon).toEqual([499, 499, 499]);
    });
  });
});

/** How the calls of a method of the services have ended. */
function ends(rpc: string): string[] {
  const lines = stack
    .log()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return lines.flatMap((line) => (String(line.rpc).endsWith(`/${rpc}`) ? line.code : []));
}

/** Holds a lock while something is done. */
async function locked(
  pool: Stack["presetPool"],
  lock: string | readonly string[],
  unlock: string,
  work: () => Promise<void>,
): Promise<void> {
  const connection: PoolConnection = await pool.getConnection();
  try {
    for (const statement of [lock].flat()) await connection.query(statement);
    await work();
  } finally {
    await connection.query(unlock);
    connection.release();
  }
}

describe("a caller that half-closes its connection", () => {
  it.each(inMidBody)("%s gets 400 for an incomplete request", async (_where, sent) => {
    const connection = await open();
    connection.send(sent());
    connection.halfClose();
    const received = await connection.closed();
    expect(connection.statuses).toEqual([400]);
    expect(lastBody(received).error.metadata.issues).toMatchObject([{ path: "" }]);
    await expect.poll(telemetry.logged, soon).toEqual([400]);
  });

  it("after a complete request is answered", async () => {
    const connection = await open();
    connection.send(creation());
    connection.halfClose();
    await connection.closed();
    expect(connection.statuses).toEqual([200]);
  });

  it("after pipelined requests gets all answers", async () => {
    const connection = await open();
    connection.send(creation("row-1") + creation("row-2") + read("") + creation("row-3"));
    connection.halfClose();
    await connection.closed();
    expect(connection.statuses).toEqual([200, 200, 200, 200]);
  });

  it("in mid-body while its key is checked gets 400 for an incomplete request", async () => {
    const { apiKey: key } = await stack.tenants.createOrganization();
    await locked(stack.organizationPool, "LOCK TABLES api_keys WRITE", "UNLOCK TABLES", async () => {
      const connection = await open();
      connection.send(head("Content-Length: 1000", { key }));
      connection.halfClose();
      await connection.closed();
      expect(connection.statuses).toEqual([400]);
    });
  });
});

describe("a body that is not valid HTTP", () => {
  it.each([
    ["a chunk length that is not a number", "zz\r\n{}\r\n"],
    ["a chunk longer than announced", "2\r\n{}{}{}\r\n0\r\n\r\n"],
    ["a chunk followed by something else", '5\r\n{"mes\r\nHELLO\r\n'],
  ])("returns 400: %s", async (_name, body) => {
    const connection = await open();
    connection.send(head("Transfer-Encoding: chunked") + body);
    const received = await connection.closed();
    expect(connection.statuses).toEqual([400]);
    expect(lastBody(received).error.metadata.issues).toMatchObject([{ path: "" }]);
    await expect.poll(telemetry.logged, soon).toEqual([400]);
  });

  it("returns 400 even if the caller keeps sending", async () => {
    const connection = await open();
    connection.send(`${head("Transfer-Encoding: chunked")}zz\r\n`);
    for (let count = 0; count < 100; count++) connection.send("x".repeat(10_000));
    await connection.closed();
    expect(connection.statuses).toEqual([400]);
  });

  it("after the announced length does not suppress the answer", async () => {
    const connection = await open();
    connection.send(`${creation()}}}}} and more\r\n\r\n`);
    await connection.closed();
    expect(connection.statuses).toEqual([200, 400]);
    await expect.poll(telemetry.logged, soon).toEqual([200, 400]);
  });

  it("after a request in progress waits for its answer", async () => {
    await create("first");
    const lock = "SELECT slug FROM presets WHERE slug = 'first' FOR UPDATE";
    let connection: RawConnection | undefined;
    await locked(stack.presetPool, ["START TRANSACTION", lock], "ROLLBACK", async () => {
      connection = await open();
      connection.send(creation("first"));
      await expect.poll(telemetry.connections, soon).toBe(1);
      connection.send("GARBAGE\r\n\r\n");
      connection.send("GARBAGE\r\n\r\n");
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(connection.received).toBe("");
    });
    await connection?.closed();
    expect(connection?.statuses).toEqual([200, 400]);
  });
});

describe("a caller that keeps its connection open", () => {
  it("gets both answers if half a rejected request follows one in progress", async () => {
    await create("ahead");
    const lock = "SELECT slug FROM presets WHERE slug = 'ahead' FOR UPDATE";
    let connection: RawConnection | undefined;
    await locked(stack.presetPool, ["START TRANSACTION", lock], "ROLLBACK", async () => {
      connection = await open();
      connection.send(creation("ahead") + head("Content-Length: 100", { key: "wrong" }));
      // Longer than the rest of a rejected body is waited for.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(connection.received).toBe("");
    });
    await connection?.closed();
    expect(connection?.statuses).toEqual([200, 401]);
  });

  it.each([
    ["bytes that are not HTTP", "GARBAGE\r\n\r\n", 400],
    ["headers that are too large", `GET / HTTP/1.1\r\nx: ${"y".repeat(40_000)}`, 431],
  ])("is disconnected after %s", async (_name, sent, status) => {
    const connection = await open();
    connection.send(sent);
    await expect.poll(telemetry.connections, soon).toBe(0);
    expect(connection.statuses).toEqual([status]);
    await expect.poll(telemetry.logged, soon).toEqual([status]);
    connection.hangUp();
  });
});
