import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRunning, type LocalSystem, type ProcessName, refusalOf, startLocalSystem } from "../support/local-system.ts";

const timeoutMs = 120_000;
const pollMs = 60_000;

let home: string;
let system: LocalSystem;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "setpoint-recovery-"));
  system = await startLocalSystem(home);
}, timeoutMs);

afterAll(async () => {
  await system?.stop();
  rmSync(home, { recursive: true });
}, timeoutMs);

/** Kills the gateway and takes its port before it is back, so that it cannot start. */
function takeGatewayPort(): Promise<Server> {
  return system.whilePaused(async () => {
    const port = Number(new URL(system.credentials.base_url).port);
    process.kill(system.pidOf("gateway") as number, "SIGKILL");
    for (;;) {
      const server = createServer().listen(port, "127.0.0.1");
      const isOurs = await once(server, "listening").then(
        () => true,
        () => false,
      );
      if (isOurs) return server;
      await sleep(1);
    }
  });
}

function countFailedStarts(): number {
  return readFileSync(join(home, "logs", "gateway.log"), "utf8").split("could not start").length - 1;
}

function linesAbout(text: string, from: number): string[] {
  return system
    .output()
    .slice(from)
    .split("\n")
    .filter((line) => line.includes(text));
}

describe("a process that cannot be restarted", () => {
  it("is retried until it can, which is reported once", { timeout: timeoutMs }, async () => {
    const [before, from] = [countFailedStarts(), system.output().length];
    const inTheWay = await takeGatewayPort();
    await expect.poll(() => countFailedStarts() - before, { timeout: pollMs }).toBeGreaterThanOrEqual(4);
    const told = [expect.stringContaining("EADDRINUSE")];
    await expect.poll(() => linesAbout("gateway does not start", from), { timeout: pollMs }).toEqual(told);
    expect(linesAbout("gateway died", from)).toHaveLength(1);
    inTheWay.close();
    const status = () => fetch(`${system.credentials.base_url}/healthz`).then(({ status }) => status, String);
    await expect.poll(status, { timeout: pollMs }).toBe(200);
    await expect.poll(() => linesAbout("gateway is up again", from), { timeout: pollMs }).toHaveLength(1);
  });

  it("leaves nothing running when stopped in the meantime", { timeout: timeoutMs }, async () => {
    const before = countFailedStarts();
    const inTheWay = await takeGatewayPort();
    await expect.poll(() => countFailedStarts() - before, { timeout: pollMs }).toBeGreaterThanOrEqual(3);
    const names: ProcessName[] = ["organization", "preset", "gateway", "echo", "database"];
    const pids = names.map((name) => system.pidOf(name));
    expect(await system.stop()).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
    inTheWay.close();
  });
});

describe("a start with an invalid setting", () => {
  let otherHome: string;

  beforeAll(() => {
    otherHome = mkdtempSync(join(tmpdir(), "setpoint-recovery-"));
  });

  afterAll(() => rmSync(otherHome, { recursive: true }));

  it.each([
    [{ LOG_LEVEL: "loud" }, "LOG_LEVEL must be one of"],
    [{ UPSTREAMS_FILE: "/none" }, "UPSTREAMS_FILE /none cannot be used: ENOENT"],
    [
      { GRPC_TLS_CERT_FILE: "/none", GRPC_TLS_KEY_FILE: "/none", GRPC_TLS_CA_FILE: "/none" },
      "GRPC_TLS_CERT_FILE names a file",
    ],
  ])("fails at once and says why: %j", { timeout: timeoutMs }, async (environment, message) => {
    const refusal = await refusalOf(startLocalSystem(otherHome, environment));
    expect(refusal).toMatchObject({ exitCode: 1, output: expect.stringContaining(message) });
    expect(refusal.output).not.toContain("it is tried");
  });
});
