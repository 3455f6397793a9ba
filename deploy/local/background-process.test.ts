import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commandLineOf, startInBackground } from "./background-process.ts";

let folder: string;
let logFile: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-background-"));
  logFile = join(folder, "log");
});

afterEach(() => rmSync(folder, { recursive: true }));

function runShell(script: string) {
  return startInBackground({ command: "sh", args: ["-c", script], logFile });
}

describe("startInBackground", () => {
  it("appends all output to the log", async () => {
    writeFileSync(logFile, "before\n");
    await runShell("echo out; echo err >&2").exited;
    expect(readFileSync(logFile, "utf8")).toBe("before\nout\nerr\n");
  });

  it.each([
    { script: "exit 3", exit: { reason: "exit code 3", killed: false, isPermanent: false } },
    { script: "exit 78", exit: { reason: "exit code 78", killed: false, isPermanent: true } },
    { script: "kill -9 $$", exit: { reason: "ended by SIGKILL", killed: true, isPermanent: false } },
  ])("reports how it ended: $exit.reason", async ({ script, exit }) => {
    expect(await runShell(script).exited).toEqual(exit);
  });

  it("reports a missing program", async () => {
    const missing = startInBackground({ command: join(folder, "missing"), args: [], logFile });
    expect(await missing.exited).toMatchObject({ killed: false, isPermanent: true });
  });

  it("kills a process that does not stop in time", async () => {
    const stubborn = runShell("trap '' TERM; echo up; while :; do sleep 0.05; done");
    await expect.poll(() => readFileSync(logFile, "utf8")).toContain("up");
    await stubborn.stop(100);
    expect(await stubborn.exited).toMatchObject({ killed: true });
  });

  it("allows stopping a process that has already ended", async () => {
    const ended = runShell("true");
    await ended.exited;
    await ended.stop();
  });

  it.runIf(process.platform === "linux")("ends the process with its parent, even if the parent is killed", async () => {
    const module = JSON.stringify(join(import.meta.dirname, "background-process.ts"));
    const command = JSON.stringify({ command: "sleep", args: ["60"], logFile });
    const source = `
      import { startInBackground } from ${module};
      console.log(startInBackground(${command}).pid);
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", source]);
    const [printed] = await once(parent.stdout, "data");
    await expect.poll(() => commandLineOf(Number(printed))).toBe("sleep 60");
    parent.kill("SIGKILL");
    await expect.poll(() => commandLineOf(Number(printed))).toBeUndefined();
  });
});
