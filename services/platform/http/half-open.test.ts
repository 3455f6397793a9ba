import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { blockProcess } from "../../../test/support/block-process.ts";
import { silentLogger } from "../observe/logger.ts";
import { answerHalfClosed } from "./half-open.ts";
import { bindHttpServer, closeHttpServer } from "./http-server.ts";

let server: Server;

afterEach(() => closeHttpServer(server, 100));

/** What a caller receives that half-closes its connection after a request that takes a moment. */
async function answerTo(request: string): Promise<string> {
  const port = await bindHttpServer(server, { host: "127.0.0.1", port: 0, logger: silentLogger() });
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.end(request);
  return text(socket);
}

async function serve(changed: (server: Server) => void): Promise<void> {
  server = createServer(async (request, response) => {
    request.resume();
    await new Promise((resolve) => request.socket.once("end", resolve));
    await setImmediate();
    response.end("answered");
  });
  changed(server);
}

describe("answerHalfClosed", () => {
  const request = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

  it("answers a half-closed connection, and closes it", async () => {
    await serve(answerHalfClosed);
    expect(await answerTo(request)).toContain("answered");
  });

  it("is needed, because Node itself does not answer it", async () => {
    await serve(() => {});
    expect(await answerTo(request)).toBe("");
  });

  it("closes the connection if nothing was sent for a second", async () => {
    server = createServer(() => {});
    answerHalfClosed(server);
    const begunAtMs = performance.now();
    expect(await answerTo(request)).toBe("");
    expect(performance.now() - begunAtMs).toBeGreaterThan(900);
  });

  it("does not count the time for which this process was stalled", async () => {
    server = createServer(async (request, response) => {
      await new Promise((resolve) => request.socket.once("end", resolve));
      setTimeout(blockProcess, 100, 1_500);
      // An answer that takes several steps, such as calls of services.
      for (let step = 0; step < 5; step += 1) await sleep(60);
      response.end("answered");
    });
    answerHalfClosed(server);
    expect(await answerTo(request)).toContain("answered");
  });

  it("waits for the rest of an answer that is still being sent", async () => {
    server = createServer(async (_request, response) => {
      for (const part of ["a", "b", "c", "d"]) {
        response.write(part);
        await sleep(600);
      }
      response.end("e");
    });
    answerHalfClosed(server);
    expect((await answerTo(request)).replaceAll(/[^a-e]/g, "")).toMatch(/abcde$/);
  });
});
