import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runProgram } from "./program.ts";
import { lookForHttpFault } from "./readiness.ts";

let server: Server;
let url: string;
let status: number;

beforeEach(async () => {
  status = 200;
  server = createServer((_request, response) => response.writeHead(status).end("its reason")).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`;
});

afterEach(() => {
  server.close();
});

describe("an HTTP probe", () => {
  it("finds no fault in an answer of 200", async () => {
    expect(await lookForHttpFault(url)).toBeUndefined();
  });

  it("tells what else was answered", async () => {
    status = 503;
    expect(await lookForHttpFault(url)).toBe(`${url} answers 503: its reason`);
  });

  it("tells why there was no answer", async () => {
    server.close();
    expect(await lookForHttpFault(url)).toMatch(/readyz: connect ECONNREFUSED/);
  });

  it("does not go through a proxy, even if Node is told to use one", async () => {
    const source = join(import.meta.dirname, "readiness.ts");
    const script = `import { lookForHttpFault } from ${JSON.stringify(source)}; console.log(await lookForHttpFault(${JSON.stringify(url)}));`;
    // Nothing listens there.
    const proxy = "http://127.0.0.1:9";
    const proxied = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxy, http_proxy: proxy, NO_PROXY: "", no_proxy: "" };
    const env = { ...process.env, ...proxied };
    expect(await runProgram(process.execPath, ["--input-type=module", "--eval", script], { env })).toBe("undefined\n");
  });
});
