import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { jwksFrom } from "./key-set.ts";

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server?.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/.well-known/jwks.json`;
}

describe("jwksFrom", () => {
  it("fetches the keys and the service's time", async () => {
    const url = await serve((_, response) => response.end('{"keys":[{"kid":"a"}]}'));
    const { keys, timeMs = 0 } = await jwksFrom(url)();
    expect(keys).toEqual([{ kid: "a" }]);
    expect(Math.abs(timeMs - Date.now())).toBeLessThan(5_000);
  });

  it("accepts an answer without a time", async () => {
    const url = await serve((_, response) => {
      response.sendDate = false;
      response.end('{"keys":[]}');
    });
    expect(await jwksFrom(url)()).toEqual({ keys: [], timeMs: undefined });
  });

  it.each<[string, RequestListener]>([
    ["an error", (_, response) => response.writeHead(500).end('{"keys":[]}')],
    ["a redirect", (_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()],
    ["not JSON", (_, response) => response.end("<html>")],
    ["null", (_, response) => response.end("null")],
    ["not a list", (_, response) => response.end('{"keys":{}}')],
    ["nothing at all", (_, response) => response.end()],
    [
      "half an answer",
      (_, response) => void response.writeHead(200, { "content-length": 99 }).write("{", () => response.destroy()),
    ],
  ])("fails if the answer is %s", async (_name, listener) => {
    await expect(jwksFrom(await serve(listener))()).rejects.toThrow();
  });

  it("reads only a bounded part of an endless answer", async () => {
    let sentBytes = 0;
    const url = await serve((_, response) => {
      const chunk = Buffer.alloc(16 * 1024, " ");
      const send = () => {
        while (!response.destroyed && sentBytes < 1e9) {
          sentBytes += chunk.length;
          if (!response.write(chunk)) {
            response.once("drain", send);
            return;
          }
        }
      };
      send();
    });
    await expect(jwksFrom(url)()).rejects.toThrow("a key set is larger than 65536 bytes");
    expect(sentBytes).toBeLessThan(50e6);
  });

  it("times out if an answer trickles in", async () => {
    const url = await serve((_, response) => {
      const timer = setInterval(() => response.write(" "), 50);
      response.once("close", () => clearInterval(timer));
    });
    await expect(jwksFrom(url)()).rejects.toThrow(/timeout/i);
  });
});
