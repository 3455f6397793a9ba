import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildConsole } from "./console.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-console-build-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

function build(source: string, options: { timeoutMs?: number; index?: string; signal?: AbortSignal } = {}) {
  const { timeoutMs = 60_000, index = join(folder, "none"), signal = new AbortController().signal } = options;
  const script = join(folder, "build.mjs");
  writeFileSync(script, source);
  return buildConsole({ logFile: (name) => join(folder, `${name}.log`) }, signal, { script, index, timeoutMs });
}

describe("building the console", () => {
  it("reports its result", async () => {
    expect(await build('console.log("kept")')).toBe("kept");
  });

  it("that fails says where its errors are, and does not prevent the start", async () => {
    const told = await build('console.error("main.tsx: unexpected token"); process.exitCode = 1');
    expect(told).toBe(`could not be built, see ${join(folder, "console.log")}; the API works without it`);
    expect(readFileSync(join(folder, "console.log"), "utf8")).toBe("main.tsx: unexpected token\n");
  });

  it("that fails says that an older build is served", async () => {
    const index = join(folder, "index.html");
    writeFileSync(index, "old");
    expect(await build("process.exitCode = 1", { index })).toMatch(/; the one that was built before is served$/);
  });

  it("that does not finish is given up", async () => {
    expect(await build("setInterval(() => {}, 1000)", { timeoutMs: 500 })).toMatch(/^could not be built/);
    expect(readFileSync(join(folder, "console.log"), "utf8")).toBe("It took longer than 0.5 s.\n");
  });

  it("is aborted with the start that it belongs to", async () => {
    const stop = new AbortController();
    const building = build("setInterval(() => {}, 1000)", { signal: stop.signal });
    setTimeout(() => stop.abort(new Error("stopped")), 200);
    await expect(building).rejects.toThrow("stopped");
  });
});
