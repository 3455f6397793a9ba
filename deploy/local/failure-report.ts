import type { Exit } from "./background-process.ts";
import { mostInformativeLine } from "./last-lines.ts";
import { FailedStart } from "./start-error.ts";

/**
 * Reports what happens to a supervised process: one line for each cause until it has recovered, not for each attempt.
 */
export function reportFailures(name: string, logFile: string, say: (line: string) => void) {
  const reported = new Set<string>();
  const report = (line: string): void => {
    // Log lines that say the same differ in their times.
    const cause = line.replaceAll(/\d[\d:.-]+/g, "");
    if (!reported.has(cause)) say(`  ${line}`);
    reported.add(cause);
  };
  return {
    onDeath: ({ reason, killed }: Exit): void =>
      report(`${name} died (${killed ? reason : `${reason}: ${mostInformativeLine(logFile)}`}) and is started again`),
    onFailedStart: (error: unknown): void =>
      report(`${name} does not start (${reasonOf(error)}); it is tried until it does, see ${logFile}`),
    onRecovery: (): void => {
      reported.clear();
      say(`  ${name} is up again`);
    },
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof FailedStart) return error.reason;
  return String(error instanceof Error ? error.message : error).split("\n", 1)[0] as string;
}
