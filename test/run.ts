import { relative } from "node:path";
import { parseCLI, startVitest } from "vitest/node";

// Runs the tests. Many have real processes, databases and browsers and the machine may be shared, so a file in which a test
// failed is run once more, alone; it has failed where it does so again. More than a few are no accident.

const filesToTryAgainMax = 5;

const { filter, options } = parseCLI(["vitest", "run", ...process.argv.slice(2)]);
const first = await startVitest("test", filter, options);
const failed = first.state.getFailedFilepaths();
const hasOtherFaults = first.state.getUnhandledErrors().length > 0;
if (failed.length > 0 && failed.length <= filesToTryAgainMax && !hasOtherFaults) {
  const names = failed.map((file) => relative(process.cwd(), file));
  process.stderr.write(`\nOnce more, one at a time: ${names.join(", ")}\n`);
  process.exitCode = 0;
  const second = await startVitest("test", failed, { ...options, fileParallelism: false });
  const still = second.state.getFailedFilepaths().length;
  process.stderr.write(`\n${names.length - still} of ${names.length} passed the second time.\n`);
}
// What a test has left open must not hold up the end.
setTimeout(() => process.exit(), 10_000).unref();
