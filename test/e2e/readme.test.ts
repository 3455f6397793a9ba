import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocalSystem, startLocalSystem } from "../support/local-system.ts";

const root = join(import.meta.dirname, "../..");
const timeoutMs = 120_000;

let home: string;
let system: LocalSystem;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "setpoint-readme-"));
  system = await startLocalSystem(home);
}, timeoutMs);

afterAll(async () => {
  await system?.stop();
  rmSync(home, { recursive: true });
}, timeoutMs);

/** Runs something to its end in the root of the repository, as a reader of the README would. */
async function run(program: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const env = { PATH: process.env.PATH, HOME: home, SETPOINT_HOME: home, ...environment };
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: root, env });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

function runExample(name: string, args: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) {
  return run(process.execPath, [join(root, "docs/examples", name), ...args], environment);
}

/** The shell commands of the README, in order, without those that start a system or its tests; then those that go on with its preset. */
function readmeCommands(): string[] {
  const text = ["README.md", "docs/presets.md"].map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = ""]) => commands);
  return blocks.filter((commands) => !commands.startsWith("npm "));
}

describe("the README", () => {
  it.runIf(spawnSync("curl", ["--version"]).status === 0)(
    "has commands that work as they stand, whatever SETPOINT_HOME is",
    // Some twenty processes, one after the other.
    { timeout: 3 * timeoutMs },
    async () => {
      const commands = readmeCommands();
      expect(commands.length).toBeGreaterThanOrEqual(7);
      // Like curl in the README, but failing if the answer is an error.
      const script = ["set -e", 'curl() { command curl --silent --show-error --fail "$@"; echo; }', ...commands];
      const { code, stdout, stderr } = await run("sh", ["-c", script.join("\n")]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("rror") });
      for (const part of [
        '"slug":"my-first-preset"',
        '"total_count":3',
        '"/temperature":{"from":"request","overrides":"preset"}',
        '"content":"model: echo/small\\n',
        /^OpenAI:\nmodel: echo\/small$/m,
        /^OpenRouter:\nmodel: echo\/small$/m,
        /^Anthropic:\nmodel: echo\/small$/m,
        '"name":"reader"',
        "Its old secret works until its grace is over.\nIt was deleted, and does not work now.",
        /^sk-sp-v1-/m,
        /\tci\tapi\tactive\tpresets:read\t/,
        'The workspace "Staging" of "Demo" is ready',
        "grace@example.com\tGrace",
        "revoke-key",
        '"accessToken":"',
        'over-grpc is at version 1: {"model":"openai/gpt-4.1-mini","temperature":0.2}',
      ]) {
        expect(stdout).toMatch(part);
      }
    },
  );
});

describe("the example that uses a preset", () => {
  it("says how to create a preset that does not exist", async () => {
    const { code, stderr } = await runExample("use-preset.mjs", ["nowhere"]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('README.md shows under "First calls"'),
    });
  });
});

describe.each(["use-preset.mjs", "grpc-client.mjs", "administer.mjs"])("%s", (example) => {
  it("says what to do if nothing was started yet", async () => {
    const ran = await runExample(example, [], { SETPOINT_HOME: join(home, "elsewhere") });
    const { stderr, ...rest } = ran;
    expect(rest).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^\S+elsewhere\/credentials.json cannot be read, .* Run "npm start" in another terminal.*\n$/,
    );
  });

  it("says what to do if the system is not running", async () => {
    await system.stop();
    const { stderr, ...rest } = await runExample(example);
    expect(rest).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^Nothing answers on \S+:\d+\. Run "npm start" in another terminal.*\n$/);
  });
});
