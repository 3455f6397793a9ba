import type { RequestListener, Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { RawConnection } from "../../../test/support/raw-connection.ts";
import { bindHttpServer, closeHttpServer, createHttpServer, httpTimeouts } from "./http-server.ts";

const timeouts = {
  ...httpTimeouts,
  headersMs: 1_000,
  requestMs: 2_000,
  keepAliveMs: 300,
  // Longer than those, so that it is not they who are cut short.
  stalledMs: 4_000,
  checkMs: 50,
};
const soon = { interval: 50 };
let server: Server;

afterEach(() => closeHttpServer(server, 100));

async function open(listener: RequestListener): Promise<RawConnection> {
  server = createHttpServer(listener, { timeouts });
  const port = await bindHttpServer(server, "127.0.0.1", 0);
  return RawConnection.open(`http://127.0.0.1:${port}`);
}

function connections(): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
}

/** Waits until the server knows of the connection, and has closed it. */
async function expectClosed(): Promise<void> {
  await expect.poll(connections, soon).toBe(0);
}

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n";

/** Keeps this process from doing anything else. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Answers when the body has come. */
const echo: RequestListener = (request, response) => {
  request.on("error", () => {});
  request.resume().on("end", () => response.end("done"));
};

describe("a connection of createHttpServer", () => {
  it.each([
    ["that sends nothing", "", /^HTTP\/1.1 408|^$/],
    ["that sends half of its headers", "GET / HTTP", /^HTTP\/1.1 408/],
    ["that sends half of its body", `${post}{`, /^HTTP\/1.1 408/],
    ["that sends no other request", get, /^HTTP\/1.1 200 .*done$/s],
  ])("%s is closed", async (_name, sent, answer) => {
    const connection = await open(echo);
    if (sent) connection.send(sent);
    expect(await connection.closed()).toMatch(answer);
    await expectClosed();
  });

  it.each([
    ["small", 4],
    ["large", 10 * 1024 * 1024],
  ])("whose next request came in time gets a %s answer and stays open, though the server is late", async (_, bytes) => {
    const connection = await open(({ url }, response) => response.end("x".repeat(url === "/next" ? bytes : 4)));
    connection.send(get);
    await expect.poll(() => connection.statuses, soon).toEqual([200]);
    // Behind this, the event loop looks at clocks first. Node waits for a second more than it is told.
    setImmediate(() => {
      connection.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
      block(timeouts.keepAliveMs + 2_000);
    });
    await expect.poll(() => connection.statuses, soon).toEqual([200, 200]);
    connection.send(get);
    await expect.poll(() => connection.statuses, soon).toEqual([200, 200, 200]);
  });

  it("that does not read its answer is closed", async () => {
    const connection = await open((_, response) => response.end("x".repeat(50 * 1024 * 1024)));
    connection.pause();
    connection.send(get);
    await expect.poll(connections, soon).toBe(1);
    await expectClosed();
    connection.hangUp();
  });

  it("whose request takes longer than a caller may is still answered", async () => {
    const connection = await open((_, response) => setTimeout(() => response.end("late"), 2 * timeouts.stalledMs));
    connection.send(get);
    expect(await connection.closed()).toContain("late");
  });

  it("that sends no host is refused", async () => {
    const connection = await open(echo);
    connection.send("GET / HTTP/1.1\r\n\r\n");
    await connection.closed();
    expect(connection.statuses).toEqual([400]);
  });
});

it.runIf(process.platform === "linux")(
  "has a port together with others that share it, and with no one else",
  async () => {
    const [first, second, third] = [echo, echo, echo].map((listener) => createHttpServer(listener, { timeouts }));
    if (!first || !second || !third) throw new Error("not made");
    try {
      const port = await bindHttpServer(first, "127.0.0.1", 0, true);
      expect(await bindHttpServer(second, "127.0.0.1", port, true)).toBe(port);
      await expect(bindHttpServer(third, "127.0.0.1", port)).rejects.toMatchObject({ code: "EADDRINUSE" });
    } finally {
      await Promise.all([first, second].map((each) => closeHttpServer(each, 100)));
    }
  },
);
