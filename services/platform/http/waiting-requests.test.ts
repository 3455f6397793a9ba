import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { RawConnection } from "../../../test/support/raw-connection.ts";
import { silentLogger } from "../observe/logger.ts";
import { bindHttpServer, closeHttpServer, createHttpServer } from "./http-server.ts";
import { inTurn } from "./in-turn.ts";
import { WaitingRequests } from "./waiting-requests.ts";

/** A server that answers when it is told to, and counts the requests that Node gives it. */
async function serve() {
  const waiting = new WaitingRequests();
  const answering: ServerResponse[] = [];
  let taken = 0;
  let isHeldUp = true;
  const answer = (_request: IncomingMessage, response: ServerResponse) => {
    if (isHeldUp) answering.push(response);
    else response.end();
  };
  const server = createHttpServer(inTurn(answer, waiting), { waiting });
  server.on("request", () => {
    taken += 1;
  });
  onTestFinished(() => closeHttpServer(server, 100));
  const port = await bindHttpServer(server, { host: "127.0.0.1", port: 0, logger: silentLogger() });
  return {
    open: () => RawConnection.open(`http://127.0.0.1:${port}`),
    taken: () => taken,
    connections: () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count))),
    answerThoseBegun: () => {
      for (const response of answering.splice(0)) response.end();
    },
    answerAll() {
      isHeldUp = false;
      this.answerThoseBegun();
    },
  };
}

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

describe("requests that wait behind others of their connection", () => {
  it("are all taken from one caller", async () => {
    const server = await serve();
    const connection = await server.open();
    connection.send(get.repeat(2_000));
    await expect.poll(server.taken).toBe(2_000);
    server.answerAll();
    await expect.poll(() => connection.statuses.length).toBe(2_000);
    expect(connection.isClosed).toBe(false);
    connection.hangUp();
  });

  it("are taken from many only while few wait, a few of each packet always", async () => {
    const server = await serve();
    const connections = await Promise.all(Array.from({ length: 20 }, server.open));
    for (const connection of connections) await connection.sent(get.repeat(2_000));
    const polite = await server.open();
    polite.send(get.repeat(8));
    // The handled ones, those that may wait, and a few of each packet, of which a connection may have sent two.
    await expect.poll(server.taken).toBeGreaterThan(2_500);
    expect(server.taken()).toBeLessThan(4_000);
    server.answerAll();
    await expect.poll(() => polite.statuses.length).toBe(8);
    await expect.poll(() => connections.filter(({ isClosed }) => isClosed).length).toBeGreaterThan(15);
    for (const connection of [...connections, polite]) connection.hangUp();
  });

  it("no longer count when their caller has left", async () => {
    const server = await serve();
    for (let times = 0; times < 3; times += 1) {
      const connection = await server.open();
      connection.send(get.repeat(2_000));
      await expect.poll(server.taken).toBe((times + 1) * 2_000);
      connection.reset();
      // Until then nothing is read, and so nobody notices.
      server.answerThoseBegun();
      await expect.poll(server.connections).toBe(0);
    }
  });
});
