import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { reportFailures } from "./failure-report.ts";
import { FailedStart } from "./start-error.ts";

let folder: string;
let logFile: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-failures-"));
  logFile = join(folder, "gateway.log");
});

afterEach(() => rmSync(folder, { recursive: true }));

function tell() {
  const lines: string[] = [];
  return { lines, ...reportFailures("gateway", logFile, (line) => lines.push(line)) };
}

function failed(reason: string): FailedStart {
  return new FailedStart(`did not start (${reason})`, reason, false);
}

describe("the report about a process in trouble", () => {
  it("is one line per cause, however often it recurs", () => {
    const { lines, onFailedStart } = tell();
    for (const second of [10, 11, 12]) onFailedStart(failed(`exit code 1: 2026-11-15 10:50:${second} disk full`));
    onFailedStart(failed("exit code 1: port in use"));
    onFailedStart(failed("exit code 1: 2026-11-15 10:51:00 disk full"));
    expect(lines).toEqual([
      `  gateway does not start (exit code 1: 2026-11-15 10:50:10 disk full); it is tried until it does, see ${logFile}`,
      `  gateway does not start (exit code 1: port in use); it is tried until it does, see ${logFile}`,
    ]);
  });

  it("is repeated after a recovery", () => {
    const { lines, onDeath, onRecovery } = tell();
    const killed = { reason: "ended by SIGKILL", killed: true, isPermanent: false };
    onDeath(killed);
    onDeath(killed);
    onRecovery();
    onDeath(killed);
    expect(lines).toEqual([
      "  gateway died (ended by SIGKILL) and is started again",
      "  gateway is up again",
      "  gateway died (ended by SIGKILL) and is started again",
    ]);
  });

  it.each([
    [
      "a JSON log",
      '{"level":"fatal","err":{"message":"no memory","stack":"…"},"message":"could not start"}\n',
      "no memory",
    ],
    ["a JSON log without an error", '{"level":"fatal","message":"no port is free"}\n', "no port is free"],
    ["a database", "[ERROR] InnoDB: no lock\n[Note] bye\n[ERROR] Aborting\n", "[ERROR] InnoDB: no lock"],
    ["a database without a folder", "[Warning] x\nCan't change dir\n[ERROR] Aborting\n", "Can't change dir"],
    ["anything else", "one\ntwo\n", "two"],
  ])("gives the reason from its log: %s", (_, log, why) => {
    writeFileSync(logFile, log);
    const { lines, onDeath } = tell();
    onDeath({ reason: "exit code 1", killed: false, isPermanent: false });
    expect(lines).toEqual([`  gateway died (exit code 1: ${why}) and is started again`]);
  });
});
