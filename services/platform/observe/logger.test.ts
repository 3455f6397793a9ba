import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { expect, it } from "vitest";

const imports = `import { createLogger } from ${JSON.stringify(new URL("./logger.ts", import.meta.url))};
  const logger = createLogger("test", "info");`;

function evaluate(script: string): string[] {
  return ["--input-type=module", "--eval", `${imports}\n${script}`];
}

/** The lines of a process that logs 2,000 lines and then ends as `end` says. */
function linesOf(end: string): { number: number; text: string; time: string }[] {
  const args = evaluate(`
    for (let number = 0; number < 2_000; number++) logger.info({ number, text: "ä🙂".repeat(number % 200) });
    ${end}`);
  const output = execFileSync(process.execPath, args, { encoding: "utf8", maxBuffer: 16 * 1024 * 1024 });
  return output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

it.each([
  ["flushes and exits", "logger.flush(() => process.exit(0));"],
  ["just exits", "process.exit(0);"],
  ["has nothing more to do", ""],
])("writes every line complete and in order if the process %s", (_, end) => {
  const lines = linesOf(end);
  expect(lines.map(({ number }) => number)).toEqual(Array.from({ length: 2_000 }, (_, number) => number));
  expect(lines.every(({ text, number }) => text === "ä🙂".repeat(number % 200))).toBe(true);
});

it("writes times in UTC with milliseconds", () => {
  expect(linesOf("")[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

it.runIf(process.platform === "linux")("lets a process run and exit although its log disk is full", () => {
  const full = openSync("/dev/full", "w");
  const script = `
    const flushed = () => new Promise((resolve) => logger.flush(resolve));
    for (let round = 0; round < 3; round++) {
      logger.info("lost");
      await flushed();
    }
    console.error("alive");
    logger.info("lost");
    process.exit(0);`;
  const { status, stderr } = spawnSync(process.execPath, evaluate(script), {
    stdio: ["ignore", full, "pipe"],
    encoding: "utf8",
    timeout: 30_000,
  });
  closeSync(full);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "alive\n" });
});

it("keeps a bounded number of lines for a stalled reader, and reports how many were lost", async () => {
  const script = `
    const line = { text: "x".repeat(64 * 1024) };
    for (let number = 0; number < 1_000; number++) logger.info({ number, ...line });
    console.error(process.memoryUsage().arrayBuffers);
    process.stdin.once("data", () =>
      logger.flush(() => {
        logger.info("again");
        process.exit(0);
      }),
    );`;
  const child = spawn(process.execPath, evaluate(script), { stdio: ["pipe", "pipe", "pipe"] });
  const [bytes] = await once(child.stderr, "data");
  expect(Number(bytes)).toBeLessThan(32 * 1024 * 1024);
  child.stdin.write("go on");
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) output += chunk;
  const lines = output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const numbers = lines.slice(0, -2).map(({ number }) => number);
  expect(numbers.length).toBeGreaterThan(100);
  expect(numbers).toEqual(numbers.map((_, index) => index));
  expect(lines.slice(-2)).toMatchObject([{ level: "warn", lines: 1_000 - numbers.length }, { message: "again" }]);
});
