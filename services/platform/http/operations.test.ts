import { createServer, type Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { silentLogger } from "../observe/logger.ts";
import { Metrics } from "../observe/metrics.ts";
import { Health } from "../process/health.ts";
import { bindHttpServer, closeHttpServer } from "./http-server.ts";
import { json, metricsPage, type Operations, operationsHandler, probes } from "./operations.ts";

const binding = { host: "127.0.0.1", logger: silentLogger() };

let server: Server | undefined;

afterEach(async () => {
  if (server) await closeHttpServer(server, 100);
  server = undefined;
});

async function serve(operations: Operations): Promise<string> {
  server = createServer(operationsHandler(operations));
  return `http://127.0.0.1:${await bindHttpServer(server, { ...binding, port: 0 })}`;
}

describe("operations pages", () => {
  it.each([
    ["a ready process", {}, 200, { status: "ready" }],
    [
      "a process that is not ready",
      { database: () => Promise.reject(new Error("no database")) },
      503,
      { status: "not ready", reason: "no database" },
    ],
  ])("show %s", async (_name, checks, status, body) => {
    const url = await serve(probes(new Health(checks, () => false)));
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([status, body]);
    expect(await (await fetch(`${url}/healthz?verbose`)).json()).toEqual({ status: "ok" });
  });

  it("count requests by operation and outcome", async () => {
    const metrics = new Metrics("test");
    metrics.requestHandled("GET /x", "200", 0.002);
    const response = await fetch(`${await serve(metricsPage(metrics))}/metrics`);
    expect(response.headers.get("content-type")).toContain("text/plain");
    const sample = 'setpoint_request_seconds_count{process="test",operation="GET /x",outcome="200"} 1';
    expect(await response.text()).toContain(sample);
  });

  it.each([
    ["GET", "/page", 200],
    ["HEAD", "/page", 200],
    ["POST", "/page", 404],
    ["GET", "/other", 404],
    ["GET", "/constructor", 404],
  ])("answer %s %s with %d", async (method, path, status) => {
    const url = await serve({ "/page": async () => json(200, {}) });
    const response = await fetch(url + path, { method });
    expect(response.status).toBe(status);
    if (method === "HEAD") expect(await response.text()).toBe("");
  });
});

describe("bindHttpServer", () => {
  it("rejects a port in use", async () => {
    const port = Number(new URL(await serve({})).port);
    await expect(bindHttpServer(createServer(), { ...binding, port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

describe("closeHttpServer", () => {
  it("lets a request in flight finish, and cuts it off only after the timeout", async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const url = await serve({
      "/slow": async () => {
        await released;
        return json(200, { done: true });
      },
      "/stuck": () => new Promise(() => {}),
    });
    const slow = fetch(`${url}/slow`).then((response) => response.json());
    const stuck = fetch(`${url}/stuck`).then(
      () => "answered",
      () => "cut",
    );
    await expect.poll(() => connectionsOf(server as Server)).toBe(2);
    const closed = closeHttpServer(server as Server, 300);
    release();
    expect(await slow).toEqual({ done: true });
    await closed;
    expect(await stuck).toBe("cut");
    server = undefined;
  });
});

function connectionsOf(listening: Server): Promise<number> {
  return new Promise((resolve) => listening.getConnections((_, count) => resolve(count)));
}
