import type { Exit } from "./background-process.ts";
import { tellingLine } from "./last-lines.ts";
import { FailedStart } from "./start-error.ts";

/**
 * Reports what happens to a supervised process: one line for each cause until it has recovered, not for each attempt.
 */
export function tellTroubles(name: string, logFile: string, say: (line: string) => void) {
  const told = new Set<string>();
  const tell = (line: string): void => {
    // Log lines that say the same differ in their times.
    const cause = line.replaceAll(/\d[\d:.-]+/g, "");
    if (!told.has(cause)) say(`  ${line}`);
    told.add(cause);
  };
  return {
    onDeath: ({ reason, killed }: Exit): void =>
      tell(`${name} died (${killed ? reason : `${reason}: ${tellingLine(logFile)}`}) and is started again`),
    onFailedStart: (error: unknown): void =>
      tell(`${name} does not start (${reasonOf(error)}); it is tried until it does, see ${logFile}`),
    onRecovery: (): void => {
      told.clear();
      say(`  ${name} is up again`);
    },
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof FailedStart) return error.reason;
  return String(error instanceof Error ? error.message : error).split("\n", 1)[0] as string;
}
