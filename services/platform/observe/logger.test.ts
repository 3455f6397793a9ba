import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

/** The lines of a process that logs 2,000 of them, and then ends as `end` says. */
function linesOf(end: string): { number: number; text: string; time: string }[] {
  const script = `
    import { createLogger } from ${JSON.stringify(new URL("./logger.ts", import.meta.url))};
    const logger = createLogger("test", "info");
    for (let number = 0; number < 2_000; number++) logger.info({ number, text: "ä🙂".repeat(number % 200) });
    ${end}`;
  const args = ["--input-type=module", "--eval", script];
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
])("writes every line whole and in order where the process %s", (_, end) => {
  const lines = linesOf(end);
  expect(lines.map(({ number }) => number)).toEqual(Array.from({ length: 2_000 }, (_, number) => number));
  expect(lines.every(({ text, number }) => text === "ä🙂".repeat(number % 200))).toBe(true);
});

it("names the time of a line in UTC, with milliseconds", () => {
  expect(linesOf("")[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});
