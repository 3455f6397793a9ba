import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { nextPort } from "../support/ports.ts";
import { request } from "../support/rest.ts";
import { shiftClock } from "../support/shifted-clock.ts";
import { type Stack, startStack } from "../support/stack.ts";

const root = join(import.meta.dirname, "../..");
let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});

afterAll(() => stack.close());

describe("a machine whose clock is set back by an hour", () => {
  afterEach(() => shiftClock(0));

  it("stays ready, keeps serving known keys and accepts new ones", async () => {
    const presetReady = `http://127.0.0.1:${stack.preset.config.httpPort}/readyz`;
    expect((await stack.create("stepped")).status).toBe(200);
    expect((await request("GET", presetReady)).status).toBe(200);
    shiftClock(-3_600_000);
    // Longer than a readiness result is cached.
    await sleep(1_100);
    expect((await request("GET", presetReady)).status).toBe(200);
    expect((await stack.create("stepped")).status).toBe(200);
    const { secret } = await stack.tenants.createKey(stack);
    await expect.poll(async () => (await stack.create("stepped", undefined, { key: secret })).status).toBe(200);
  });
});

describe("a preset service on a machine with a wrong clock", () => {
  let service: ChildProcess;
  let readyUrl: string;
  let output: string;

  async function startShifted(shiftMs: number): Promise<void> {
    const [grpcPort, httpPort] = [await nextPort(), await nextPort()];
    const args = ["--import", join(root, "test/support/shifted-clock.ts"), join(root, "services/preset/main.ts")];
    service = spawn(process.execPath, args, {
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        HOST: "127.0.0.1",
        CLOCK_SHIFT_MS: String(shiftMs),
        PRESET_GRPC_PORT: String(grpcPort),
        PRESET_HTTP_PORT: String(httpPort),
        PRESET_DATABASE_URL: stack.preset.config.databaseUrl,
        ORGANIZATION_GRPC_TARGET: `127.0.0.1:${stack.organization.config.grpcPort}`,
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    output = "";
    service.stdout?.on("data", (chunk) => {
      output += chunk;
    });
    readyUrl = `http://127.0.0.1:${httpPort}/readyz`;
    const isUp = async () => (await fetch(readyUrl).catch(() => undefined))?.status;
    await expect.poll(isUp, { interval: 100 }).toBeDefined();
    await stack.gateway.stop();
    await stack.gateway.start({ presetTarget: `127.0.0.1:${grpcPort}` });
  }

  afterEach(async () => {
    service.kill();
    await once(service, "exit");
  });

  const readiness = async () => (await request("GET", readyUrl)).text;

  it.each([-55, 55])("that is off by %i seconds works, and logs the difference", async (seconds) => {
    await startShifted(seconds * 1000);
    await expect.poll(readiness).toContain('"ready"');
    expect((await stack.create("shifted")).status).toBe(200);
    await expect.poll(() => output).toContain("the clock of this machine is 55 s");
  });

  it.each([
    [-90, "90 s behind"],
    [150, "150 s ahead"],
  ])("that is off by %i seconds is not ready and says why, until it is corrected", async (seconds, said) => {
    await startShifted(seconds * 1000);
    await expect.poll(readiness).toContain(`the clock of this machine is ${said}`);
    expect((await stack.create("shifted")).status).toBe(503);
    await expect.poll(() => output).toContain(said);
    service.kill("SIGUSR2");
    await expect.poll(readiness, { interval: 200 }).toContain('"ready"');
    expect((await stack.create("shifted")).status).toBe(200);
  });
});
