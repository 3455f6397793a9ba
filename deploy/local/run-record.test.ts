import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimHome } from "./run-record.ts";

let folder: string;
let file: string;
const spawned: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-run-"));
  file = join(folder, "run.json");
});

afterEach(() => {
  for (const child of spawned.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

/** A process that does nothing, with these words at the end of its command line. */
async function idleProcess(...words: string[]): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, ["-e", "console.log('up'); setInterval(() => {}, 1000)", "--", ...words]);
  spawned.push(child);
  await once(child.stdout, "data");
  return child as ChildProcess & { pid: number };
}

function record(): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

describe("claimHome", () => {
  it("records the run and its processes, and removes the record at the end", async () => {
    const run = await claimHome(file, "mark");
    run.update({ baseUrl: "http://127.0.0.1:8080" });
    run.update({ children: { preset: 11 } });
    run.update({ children: { gateway: 12 } });
    expect(record()).toEqual({
      pid: process.pid,
      baseUrl: "http://127.0.0.1:8080",
      children: { preset: 11, gateway: 12 },
    });
    expect(readdirSync(folder)).toEqual(["run.json"]);
    run.remove();
    expect(existsSync(file)).toBe(false);
  });

  it("does not prevent processes from starting if it cannot be written", async () => {
    const run = await claimHome(file, "mark");
    rmSync(folder, { recursive: true });
    run.update({ children: { preset: 11 } });
    mkdirSync(folder);
    run.update({ children: { gateway: 12 } });
    expect(record()).toMatchObject({ children: { preset: 11, gateway: 12 } });
  });

  it.runIf(existsSync("/dev/full"))("says if the disk is full, and leaves nothing behind", async () => {
    symlinkSync("/dev/full", `${file}.${process.pid}`);
    await expect(claimHome(file, "mark")).rejects.toThrow(/cannot be written: ENOSPC.*\. Free some disk space\.$/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("rejects a home that is in use, and names the other run", async () => {
    const { pid } = await idleProcess("deploy/local/start.ts");
    writeFileSync(file, JSON.stringify({ pid, baseUrl: "http://127.0.0.1:8080", children: {} }));
    await expect(claimHome(file, "mark")).rejects.toThrow(
      `already running here on http://127.0.0.1:8080 (process ${pid}`,
    );
    expect(record()).toMatchObject({ pid });
    expect(readdirSync(folder)).toEqual(["run.json"]);
  });

  it("stops processes left by a killed run", async () => {
    const left = await idleProcess("--mark=here");
    writeFileSync(file, JSON.stringify({ pid: 2 ** 22, children: { preset: left.pid } }));
    const ended = once(left, "exit");
    await claimHome(file, "--mark=here");
    expect(await ended).toEqual([null, "SIGTERM"]);
    expect(record()).toMatchObject({ pid: process.pid });
  });

  it("does not touch an unrelated process with a recorded pid", async () => {
    const stranger = await idleProcess("--mark=elsewhere");
    writeFileSync(file, JSON.stringify({ pid: stranger.pid, children: { preset: stranger.pid } }));
    await claimHome(file, "--mark=here");
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  });

  it("succeeds for one of two that take over from a killed run simultaneously", async () => {
    const script = `
      import { claimHome } from ${JSON.stringify(new URL("./run-record.ts", import.meta.url))};
      process.on("message", ({ file, atMs }) => {
        while (Date.now() < atMs);
        claimHome(file, "mark").then(() => process.send("taken"), () => process.send("refused"));
      });
      process.send("up");`;
    const args = ["--input-type=module", "--eval", script, "--", "deploy/local/start.ts"];
    const starts = [1, 2].map(() => spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] }));
    spawned.push(...starts);
    await Promise.all(starts.map((start) => once(start, "message")));
    for (let round = 0; round < 100; round += 1) {
      writeFileSync(file, JSON.stringify({ pid: 2 ** 22, children: {} }));
      const outcomes = Promise.all(starts.map((start) => once(start, "message")));
      for (const start of starts) start.send({ file, atMs: Date.now() + 5 });
      expect((await outcomes).map(([outcome]) => outcome).sort(), `round ${round}`).toEqual(["refused", "taken"]);
      expect(starts.map(({ pid }) => pid)).toContain((record() as { pid: number }).pid);
    }
    expect(readdirSync(folder)).toEqual(["run.json"]);
  });

  it.each(["", "{", JSON.stringify({ pid: process.pid, children: {} })])(
    "takes over from the record %j",
    async (content) => {
      writeFileSync(file, content);
      await claimHome(file, "mark");
      expect(record()).toEqual({ pid: process.pid, children: {} });
    },
  );
});
