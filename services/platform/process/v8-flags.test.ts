import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const url = new URL("./v8-flags.ts", import.meta.url);

/** What node prints with a heap limit as on a large machine. */
function node(...args: readonly string[]): string {
  return execFileSync(process.execPath, ["--max-old-space-size=4096", ...args], { encoding: "utf8" });
}

/** The peak heap size in bytes if 96 MiB are in use and two gigabytes are allocated and dropped. */
function peakHeap(prelude: string): number {
  const script = `
    import { getHeapStatistics } from "node:v8";
    ${prelude}
    const array = () => new Array(131_072).fill(0);
    const inUse = Array.from({ length: 96 }, array);
    let peak = 0;
    for (let n = 0; n < 2_048; n++) {
      // Objects that live for a while are not freed by collecting the young generation alone.
      inUse[n % 32] = array();
      peak = Math.max(peak, getHeapStatistics().used_heap_size);
    }
    console.log(peak);`;
  return Number(node("--input-type=module", "--eval", script));
}

it("uses only flags known to this version of V8", () => {
  const names = [...readFileSync(url, "utf8").matchAll(/"--(?:no-)?([a-z-]+)[="]/g)].map(([, name]) => name);
  expect(names).toHaveLength(3);
  const known = node("--v8-options");
  expect(names.filter((name) => !new RegExp(`^\\s*--${name} `, "m").test(known))).toEqual([]);
});

it("keeps the heap smaller than V8's default would", () => {
  const limited = peakHeap(`import { setV8Flags } from ${JSON.stringify(url)};\nsetV8Flags();`);
  expect(limited).toBeLessThan(0.8 * peakHeap(""));
});
