import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Home, repositoryRoot } from "./home.ts";
import { ProgramFailure, runProgram } from "./program.ts";

export const buildScript = join(repositoryRoot, "gateway/console/build.ts");

/**
 * Builds the console where its sources have changed. The API does not need it: where it cannot be built, the gateway
 * starts all the same. Returns what came of it, in words.
 */
export async function buildConsole(home: Home, signal: AbortSignal): Promise<string> {
  try {
    return (await runProgram(process.execPath, [buildScript], { env: process.env, signal })).trim();
  } catch (error) {
    if (!(error instanceof ProgramFailure)) throw error;
    const logFile = home.logFile("console");
    writeFileSync(logFile, `${error.output}\n`, { mode: 0o600 });
    return `could not be built, see ${logFile}; the API works without it`;
  }
}
