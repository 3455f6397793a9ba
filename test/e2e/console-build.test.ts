import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repositoryRoot } from "../../deploy/local/home.ts";
import { ProgramFailure, runProgram } from "../../deploy/local/program.ts";
import { type LocalSystem, startLocalSystem } from "../support/local-system.ts";
import { request } from "../support/rest.ts";

let folder: string;
let home: string;
let system: LocalSystem;

/** A copy of the sources without a console build. */
function copySources(root: string): void {
  for (const name of ["gateway", "services", "proto", "deploy", "package.json", "package-lock.json", "tsconfig.json"]) {
    const filter = (path: string) => !path.startsWith(join(repositoryRoot, "gateway/console/dist"));
    cpSync(join(repositoryRoot, name), join(root, name), { recursive: true, filter });
  }
  symlinkSync(join(repositoryRoot, "node_modules"), join(root, "node_modules"));
}

/** With a screen that does not compile. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-broken-console-"));
  const root = join(folder, "setpoint");
  copySources(root);
  writeFileSync(join(root, "gateway/console/app/main.tsx"), "export const = broken;\n");
  home = join(folder, "home");
  system = await startLocalSystem(home, {}, { root });
}, 120_000);

afterAll(async () => {
  await system?.stop();
  rmSync(folder, { recursive: true });
}, 60_000);

describe("npm start with a console that does not compile", () => {
  it("reports it, and where the errors are", () => {
    const logFile = join(home, "logs", "console.log");
    expect(system.output()).toContain(`could not be built, see ${logFile}; the API works without it`);
    expect(readFileSync(logFile, "utf8")).toContain("main.tsx");
  });

  it("still serves the API", async () => {
    const { base_url, api_key } = system.credentials;
    const body = { model: "m", messages: [] };
    const path = "/api/v1/presets/without-console/chat/completions";
    expect((await request("POST", `${base_url}${path}`, { key: api_key, body })).status).toBe(200);
    expect((await fetch(`${base_url}/readyz`)).status).toBe(200);
  });

  it("explains at /console why there is none", async () => {
    const answer = await fetch(`${system.credentials.base_url}/`);
    expect([answer.status, answer.url]).toEqual([503, `${system.credentials.base_url}/console/`]);
    expect(await answer.text()).toContain("The console is not built");
  });
});

describe("a build of the console", () => {
  it.each(["c#", "what?"])("in a folder %s, which Vite would misread, says so", async (name) => {
    const root = join(folder, name);
    copySources(root);
    const failure = await runProgram(process.execPath, [join(root, "gateway/console/build.ts")]).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(ProgramFailure);
    expect((failure as ProgramFailure).output).toMatch(/^Vite cannot build in a folder whose path contains/);
  });
});
