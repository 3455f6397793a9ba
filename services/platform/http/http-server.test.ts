import type { IncomingMessage, RequestListener } from "node:http";
import { pino } from "pino";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { blockProcess } from "../../../test/support/block-process.ts";
import { RawConnection } from "../../../test/support/raw-connection.ts";
import { silentLogger } from "../observe/logger.ts";
import { bindHttpServer, closeHttpServer, createHttpServer, httpTimeouts } from "./http-server.ts";

const timeouts = {
  ...httpTimeouts,
  headersMs: 1_000,
  requestMs: 2_000,
  keepAliveMs: 300,
  // Longer than those, so that it does not cut them short.
  stalledMs: 4_000,
  checkMs: 50,
};
const soon = { interval: 50 };
const binding = { host: "127.0.0.1", port: 0, logger: silentLogger() };

/** The test's own server, and a connection to it. */
async function open(listener: RequestListener, finished = onTestFinished, limits = timeouts) {
  const server = createHttpServer(listener, { timeouts: limits });
  finished(() => closeHttpServer(server, 100));
  const port = await bindHttpServer(server, binding);
  const connections = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  const url = `http://127.0.0.1:${port}`;
  return { connection: await RawConnection.open(url), connections, url };
}

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n";

/** Answers once the body has arrived. */
const echo: RequestListener = (request, response) => {
  request.on("error", () => {});
  request.resume().on("end", () => response.end("done"));
};

describe("a body in chunks of a byte", () => {
  const head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

  it("is read in few pieces, in their order", async () => {
    const pieces: Buffer[] = [];
    const { connection } = await open((request, response) => {
      request.on("data", (piece: Buffer) => pieces.push(piece)).on("end", () => response.end("done"));
    });
    const text = "0123456789".repeat(5_000);
    const long = "x".repeat(5_000);
    const chunks = [...text].map((each) => `1\r\n${each}\r\n`).join("");
    connection.send(`${head}${chunks}${long.length.toString(16)}\r\n${long}\r\n${chunks}0\r\n\r\n`);
    await expect.poll(() => connection.received).toMatch(/done$/);
    expect(Buffer.concat(pieces).toString()).toBe(text + long + text);
    expect(pieces.length).toBeLessThan(1_000);
    // Those of one turn of the event loop.
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(20_000);
  });

  it("is read in turns with others of its kind, with time for everybody else between two", async () => {
    const turnsAtMs: number[] = [];
    const chunkCount = 100_000;
    const listener: RequestListener = (request, response) => {
      let bytes = 0;
      request.on("data", (piece: Buffer) => {
        bytes += piece.length;
        // Neither the first packets, of which nobody knows yet what will follow, nor the last.
        if (bytes > 30_000 && bytes < chunkCount) turnsAtMs.push(performance.now());
      });
      request.on("end", () => response.end(`${bytes} bytes, done`));
    };
    const { connection, url } = await open(listener, onTestFinished, httpTimeouts);
    const connections = [connection, await RawConnection.open(url), await RawConnection.open(url)];
    for (const each of connections) each.send(`${head}${"1\r\nx\r\n".repeat(chunkCount)}0\r\n\r\n`);
    for (const each of connections) await expect.poll(() => each.received).toMatch(/100000 bytes, done$/);
    const pausesMs = turnsAtMs.slice(1).map((atMs, index) => atMs - (turnsAtMs[index] as number));
    expect(pausesMs.length).toBeGreaterThan(10);
    expect(Math.min(...pausesMs)).toBeGreaterThan(20);
  });

  it("waits outside while nobody reads it", async () => {
    let request: IncomingMessage | undefined;
    const { connection } = await open((incoming) => {
      request = incoming.once("error", () => {});
    });
    connection.send(head + "1\r\nx\r\n".repeat(2_000_000));
    await expect.poll(() => request?.readableLength ?? 0).toBeGreaterThan(10_000);
    let before = 0;
    const hasStopped = () => {
      const bytesRead = request?.socket.bytesRead ?? 0;
      const isSame = bytesRead === before;
      before = bytesRead;
      return isSame;
    };
    await expect.poll(hasStopped, { interval: 300 }).toBe(true);
    expect(request?.readableLength).toBeLessThan(200_000);
  });
});

// Concurrently, because they mostly wait.
describe.concurrent("a connection of createHttpServer", () => {
  it.for<[string, string, RegExp]>([
    ["that sends nothing", "", /^HTTP\/1.1 408|^$/],
    ["that sends half of its headers", "GET / HTTP", /^HTTP\/1.1 408/],
    ["that sends half of its body", `${post}{`, /^HTTP\/1.1 408/],
    ["that sends no other request", get, /^HTTP\/1.1 200 .*done$/s],
  ])("%s is closed", async ([_name, sent, answer], { expect, onTestFinished }) => {
    const { connection, connections } = await open(echo, onTestFinished);
    if (sent) connection.send(sent);
    expect(await connection.closed()).toMatch(answer);
    await expect.poll(connections, soon).toBe(0);
  });

  it("that does not read its answer is closed", async ({ expect, onTestFinished }) => {
    const listener: RequestListener = (_, response) => response.end("x".repeat(50 * 1024 * 1024));
    const { connection, connections } = await open(listener, onTestFinished);
    connection.pause();
    connection.send(get);
    await expect.poll(connections, soon).toBe(1);
    await expect.poll(connections, soon).toBe(0);
    connection.hangUp();
  });

  it("with a slow answer is still answered", async ({ expect, onTestFinished }) => {
    const lateMs = timeouts.stalledMs + 1_000;
    const listener: RequestListener = (_, response) => setTimeout(() => response.end("late"), lateMs);
    const { connection } = await open(listener, onTestFinished);
    connection.send(get);
    expect(await connection.closed()).toContain("late");
  });

  it("without a Host gets 400", async ({ expect, onTestFinished }) => {
    const { connection } = await open(echo, onTestFinished);
    connection.send("GET / HTTP/1.1\r\n\r\n");
    await connection.closed();
    expect(connection.statuses).toEqual([400]);
  });
});

describe("a server blocked past a timeout", () => {
  it.each([
    ["small", 4],
    ["large", 10 * 1024 * 1024],
  ])("answers the next request (%s answer) that came in time, and keeps the connection open", async (_, bytes) => {
    const { connection } = await open(({ url }, response) => response.end("x".repeat(url === "/next" ? bytes : 4)));
    connection.send(get);
    await expect.poll(() => connection.statuses, soon).toEqual([200]);
    // After this, the event loop runs timers first. Node waits a second longer than configured.
    setImmediate(() => {
      connection.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
      blockProcess(timeouts.keepAliveMs + 2_000);
    });
    await expect.poll(() => connection.statuses, soon).toEqual([200, 200]);
    connection.send(get);
    await expect.poll(() => connection.statuses, soon).toEqual([200, 200, 200]);
  });
});

it("a server that cannot accept connections goes on, and logs that without filling the log", async () => {
  const server = createHttpServer(echo, { timeouts });
  onTestFinished(() => closeHttpServer(server, 100));
  const lines: object[] = [];
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
  const port = await bindHttpServer(server, { ...binding, logger });
  const clock = vi.spyOn(performance, "now");
  onTestFinished(() => clock.mockRestore());
  for (const ms of [10_000, 10_001, 14_999, 15_000]) {
    clock.mockReturnValue(ms);
    // As Node reports it. Without a listener, this would throw where nobody catches it.
    server.emit("error", Object.assign(new Error("accept EMFILE"), { code: "EMFILE", syscall: "accept" }));
  }
  clock.mockRestore();
  const logged = { level: 40, reason: "accept EMFILE", msg: "connections could not be accepted" };
  expect(lines).toMatchObject([
    { ...logged, connections: 1 },
    { ...logged, connections: 3 },
  ]);
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200);
});

it.runIf(process.platform === "linux")("shares a port only with servers that share it", async () => {
  const [first, second, third] = [echo, echo, echo].map((listener) => createHttpServer(listener, { timeouts }));
  if (!first || !second || !third) throw new Error("not made");
  try {
    const port = await bindHttpServer(first, { ...binding, reusePort: true });
    expect(await bindHttpServer(second, { ...binding, port, reusePort: true })).toBe(port);
    await expect(bindHttpServer(third, { ...binding, port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  } finally {
    await Promise.all([first, second].map((each) => closeHttpServer(each, 100)));
  }
});
