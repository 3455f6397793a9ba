import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEchoServer } from "../../deploy/local/echo-upstream/server.ts";
import { isRunning, type LocalSystem, startLocalSystem } from "../support/local-system.ts";
import { request } from "../support/rest.ts";

const timeoutMs = 120_000;

let folder: string;
let ownFile: string;
let own: Server;
let system: LocalSystem;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-upstreams-"));
  ownFile = join(folder, "own.json");
  own = createEchoServer().listen(0, "127.0.0.1");
  await once(own, "listening");
  writeOwn("first/");
  system = await startLocalSystem(join(folder, "home"), { UPSTREAMS_FILE: ownFile, OWN_KEY: "sk-own" });
}, timeoutMs);

afterAll(async () => {
  await system?.stop();
  own.close();
  own.closeAllConnections();
  rmSync(folder, { recursive: true });
}, timeoutMs);

/** A user's own table with one upstream, whose models start with a prefix. */
function writeOwn(prefix: string): void {
  const base_url = `http://127.0.0.1:${(own.address() as AddressInfo).port}/v1`;
  const models = { models: [`${prefix}*`], strip_prefix: prefix };
  const upstream = { name: "own", base_url, dialects: ["messages"], credential: { env: "OWN_KEY" }, ...models };
  writeFileSync(ownFile, JSON.stringify({ upstreams: [upstream] }));
}

async function ask(dialect: string, model: string): Promise<{ status: number; upstream: string | null }> {
  const { base_url, api_key } = system.credentials;
  const prompt = dialect === "responses" ? { input: "Hello" } : { messages: [{ role: "user", content: "Hello" }] };
  const body = { model, max_tokens: 10, ...prompt };
  const { status, headers } = await request("POST", `${base_url}/api/v1/${dialect}`, { key: api_key, body });
  return { status, upstream: headers.get("x-setpoint-upstream") };
}

describe("a user's own upstream table", () => {
  it("is used together with the echo upstream in every dialect", async () => {
    expect(await ask("messages", "first/echo/a")).toEqual({ status: 200, upstream: "own" });
    for (const dialect of ["chat/completions", "messages", "responses"]) {
      expect(await ask(dialect, "echo/small")).toEqual({ status: 200, upstream: "echo" });
    }
  });

  it("is reloaded when it changes, and errors in it are reported", { timeout: timeoutMs }, async () => {
    writeOwn("second/");
    const status = async () => (await ask("messages", "second/echo/a")).status;
    await expect.poll(status).toBe(200);
    writeFileSync(ownFile, '{"upstreams": [{}]}');
    await expect
      .poll(() => system.output())
      .toMatch(/own\.json cannot be used: .*upstreams\[0\].*the last good one is used/);
    expect(await ask("messages", "second/echo/a")).toEqual({ status: 200, upstream: "own" });
  });
});

describe("the echo upstream", () => {
  it("is restarted when it dies", { timeout: timeoutMs }, async () => {
    const pid = system.pidOf("echo") as number;
    process.kill(pid, "SIGKILL");
    await expect.poll(() => isRunning(pid)).toBe(false);
    const status = async () => (await ask("responses", "echo/small")).status;
    await expect.poll(status).toBe(200);
    await expect.poll(() => system.output()).toContain("echo died (ended by SIGKILL) and is started again");
    expect(readFileSync(join(folder, "home", "logs", "echo.log"), "utf8")).toContain("listening on 127.0.0.1:");
  });
});
