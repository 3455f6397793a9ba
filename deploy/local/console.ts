import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Home, repositoryRoot } from "./home.ts";
import { lastLineOf } from "./last-lines.ts";
import { ProgramFailure, runProgram } from "./program.ts";

export const buildScript = join(repositoryRoot, "gateway/console/build.ts");

interface Build {
  readonly script: string;
  /** Exists if the console was built before. */
  readonly index: string;
  readonly timeoutMs: number;
}

const build: Build = {
  script: buildScript,
  index: join(repositoryRoot, "gateway/console/dist/index.html"),
  // A build takes a second or two.
  timeoutMs: 120_000,
};

/**
 * Builds the console if its sources have changed. The API does not need it: if the build fails, the gateway starts
 * without it. Returns the outcome in words.
 */
export async function buildConsole(
  home: Pick<Home, "logFile">,
  signal: AbortSignal,
  { script, index, timeoutMs } = build,
): Promise<string> {
  const time = AbortSignal.timeout(timeoutMs);
  try {
    const both = AbortSignal.any([signal, time]);
    return lastLineOf(await runProgram(process.execPath, [script], { env: process.env, signal: both }));
  } catch (error) {
    if (!time.aborted && !(error instanceof ProgramFailure)) throw error;
    const reason = error instanceof ProgramFailure ? error.output : `It took longer than ${timeoutMs / 1_000} s.`;
    const logFile = home.logFile("console");
    writeFileSync(logFile, `${reason}\n`, { mode: 0o600 });
    const rest = existsSync(index) ? "the one that was built before is served" : "the API works without it";
    return `could not be built, see ${logFile}; ${rest}`;
  }
}
