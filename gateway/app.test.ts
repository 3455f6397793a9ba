import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

/** What a process has loaded after importing only one module: Node's own modules and packages. */
function loadedWith(module: string): string {
  const url = JSON.stringify(new URL(module, import.meta.url));
  const script = `
    await import(${url});
    const { createRequire } = await import("node:module");
    console.log([...process.moduleLoadList, ...Object.keys(createRequire(${url}).cache)].join("\\n"));`;
  return execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
}

it("loads neither fetch nor WebSocket, which take 10 MiB", () => {
  const loaded = loadedWith("./app.ts");
  expect(loaded).toContain("fastify");
  expect(loaded).not.toContain("undici");
});
