import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { openHome, repositoryRoot } from "./home.ts";
import { runProgram } from "./program.ts";
import { compileAhead, runServiceCommand } from "./services.ts";
import { StartError } from "./start-error.ts";

/** Prints whether Node had to load its type stripper. */
const tellStripper = `--import=data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => console.log('stripper:', process.moduleLoadList.some((name) => name.includes('/amaro/'))))",
)}`;

function load(entry: string, cache: string): Promise<string> {
  const env = { ...process.env, NODE_COMPILE_CACHE: cache, NODE_OPTIONS: tellStripper };
  return runProgram(process.execPath, [join(repositoryRoot, entry), "help"], { env });
}

beforeEach(() => {
  vi.stubEnv("NODE_COMPILE_CACHE", undefined);
  return () => void vi.unstubAllEnvs();
});

it("compiles the sources ahead, and again only if they have changed", async () => {
  const path = mkdtempSync(join(tmpdir(), "setpoint-compiled-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const home = openHome({ SETPOINT_HOME: path });
  const compile = () => compileAhead(home, AbortSignal.timeout(60_000));
  mkdirSync(home.compileCache);
  await compile();
  expect(readdirSync(home.compileCache)).toEqual([]);
  for (const time of ["first", "second"]) {
    utimesSync(home.compileCache, 0, 0);
    await compile();
    expect(readdirSync(home.compileCache), time).not.toEqual([]);
    expect(statSync(home.compileCache).mtimeMs, time).toBeGreaterThan(0);
  }
  for (const entry of ["gateway/main.ts", "services/preset/main.ts", "services/organization/main.ts"])
    expect(await load(entry, home.compileCache), entry).toContain("stripper: false");
  expect(await load("gateway/main.ts", join(path, "empty"))).toContain("stripper: true");
});

it("compiles into the folder named by the environment", async () => {
  const path = mkdtempSync(join(tmpdir(), "setpoint-compiled-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  vi.stubEnv("NODE_COMPILE_CACHE", join(path, "own"));
  await compileAhead(openHome({ SETPOINT_HOME: join(path, "home") }), AbortSignal.timeout(60_000));
  expect(readdirSync(join(path, "own"))).not.toEqual([]);
});

it("returns the result of a command without what a module of NODE_OPTIONS prints", async () => {
  const path = mkdtempSync(join(tmpdir(), "setpoint-command-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const environment = { ...process.env, NODE_OPTIONS: "--import=data:text/javascript,console.log('loaded')" };
  const options = { home: openHome({ SETPOINT_HOME: path }), environment, signal: AbortSignal.timeout(60_000) };
  const help = await runServiceCommand("organization", ["help"], options);
  expect(help).not.toContain("loaded");
  expect(help).not.toContain("\n");
});

it("reports why a command failed even if that cannot be logged", async () => {
  const path = mkdtempSync(join(tmpdir(), "setpoint-command-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const home = openHome({ SETPOINT_HOME: path });
  // A folder in place of the log: no write to it can succeed.
  mkdirSync(home.logFile("organization"));
  const options = { home, environment: process.env, signal: AbortSignal.timeout(60_000) };
  await expect(runServiceCommand("organization", ["no-such-command"], options)).rejects.toThrow(StartError);
});
