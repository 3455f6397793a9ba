import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RawConnection } from "../support/raw-connection.ts";
import { type Stack, startStack } from "../support/stack.ts";

// The HTTP/1.1 port of a service, treated as badly as the gateway's.

const soon = { timeout: 15_000, interval: 50 };
let stack: Stack;
let url: string;
let logStart: number;

beforeAll(async () => {
  stack = await startStack();
  url = `http://127.0.0.1:${stack.preset.config.httpPort}`;
});

afterAll(() => stack.close());

beforeEach(async () => {
  await expect.poll(connections, soon).toBe(0);
  logStart = stack.log().length;
});

/** Not counting the one that asks. */
async function connections(): Promise<number> {
  const connection = await RawConnection.open(url);
  connection.send("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const page = await connection.closed();
  return Number(page.match(/^setpoint_connections\{.*\} (\d+)$/m)?.[1]) - 1;
}

function head(length: string, path = "/setpoint.preset.v1.PresetService/GetPreset"): string {
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;
}

const begun: [string, string][] = [
  ["headers", "POST /setpoint.preset.v1.PresetService/GetPreset HTTP/1.1\r\nHost"],
  ["body", `${head("Content-Length: 100")}{"sl`],
  ["chunks", `${head("Transfer-Encoding: chunked")}1\r\n{\r\n`],
  ["body for an unknown path", `${head("Content-Length: 100", "/nothing")}{"sl`],
];

describe("a caller that breaks off a request to a service", () => {
  describe.each([
    ["with a reset", (connection: RawConnection) => connection.reset()],
    ["by closing", (connection: RawConnection) => connection.hangUp()],
    ["by half-closing", (connection: RawConnection) => connection.halfClose()],
    ["with bytes that are not HTTP", (connection: RawConnection) => connection.send("zz\r\n".repeat(100))],
  ])("%s", (_name, leave) => {
    it.each(begun)("in the middle of its %s leaves no connection and no logged error", async (_where, sent) => {
      const connection = await RawConnection.open(url);
      connection.send(sent);
      await expect.poll(connections, soon).toBe(1);
      leave(connection);
      await expect.poll(connections, soon).toBe(0);
      connection.hangUp();
      const faults = stack
        .log()
        .slice(logStart)
        .split("\n")
        .filter((line) => /"level":[456]0/.test(line));
      expect(faults).toEqual([]);
    });
  });

  it("is answered if it half-closes after a complete request", async () => {
    const connection = await RawConnection.open(url);
    connection.send(`${head("Content-Length: 2")}{}`);
    connection.halfClose();
    await connection.closed();
    expect(connection.statuses).toEqual([401]);
  });

  it("does not delay shutdown of the service", async () => {
    await stack.preset.stop();
    await stack.preset.start({ drainTimeoutMs: 40_000 });
    const silent: RawConnection[] = [];
    for (const [, sent] of begun) {
      const connection = await RawConnection.open(url);
      connection.send(sent);
      silent.push(connection);
    }
    const stoppedAt = Date.now();
    await stack.preset.stop();
    expect(Date.now() - stoppedAt).toBeLessThan(20_000);
    await stack.preset.start();
    for (const connection of silent) connection.hangUp();
  });
});
