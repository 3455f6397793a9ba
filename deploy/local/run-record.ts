import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { commandLineOf, stopLeftover } from "./background-process.ts";
import { writePrivateFile } from "./private-file.ts";
import { StartError } from "./start-error.ts";

interface Run {
  readonly pid: number;
  readonly baseUrl?: string;
  /** The processes that were started, by name. */
  readonly children: Readonly<Record<string, number>>;
}

/** Who runs in a home folder. Only one may at a time. */
export interface RunRecord {
  update(change: Partial<Omit<Run, "pid">>): void;
  remove(): void;
}

/**
 * Takes the home folder for this process, and stops what a killed run has left in it. A left process is known by
 * `mark`, which its command line contains.
 */
export async function takeHome(file: string, mark: string): Promise<RunRecord> {
  let run: Run = { pid: process.pid, children: {} };
  const left = claim(file, run);
  for (const pid of Object.values(left.children)) await stopLeftover(pid, mark);
  return {
    update: (change) => {
      run = { ...run, ...change, children: { ...run.children, ...change.children } };
      try {
        writePrivateFile(file, JSON.stringify(run));
      } catch {
        // A disk that is full: what was started runs all the same, and on most systems it ends with us in any case.
      }
    },
    remove: () => rmSync(file, { force: true }),
  };
}

/** Puts our record into place, and returns the one of a run that has ended without removing it. */
function claim(file: string, run: Run): Run {
  let left: Run = { pid: 0, children: {} };
  const ours = `${file}.${run.pid}`;
  writeFileSync(ours, JSON.stringify(run), { mode: 0o600 });
  try {
    for (;;) {
      try {
        // Fails where there is a record, and makes ours with its whole content: of two at once, one gets it.
        linkSync(ours, file);
        return left;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
      left = readRun(file);
      if (isRunning(left.pid)) throw alreadyRunning(left, file);
      removeEnded(file, `${ours}.ended`);
    }
  } finally {
    rmSync(ours, { force: true });
  }
}

/** By way of another name: where someone was faster, it is their record that stands there by now, and it goes back. */
function removeEnded(file: string, aside: string): void {
  try {
    renameSync(file, aside);
    if (isRunning(readRun(aside).pid)) linkSync(aside, file);
  } catch (error) {
    // Gone already, or written again by the run that it belongs to.
    if (!["ENOENT", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function readRun(file: string): Run {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return { pid: 0, children: {} };
  }
}

function isRunning(pid: number): boolean {
  return pid > 0 && pid !== process.pid && (commandLineOf(pid)?.includes("deploy/local/start.ts") ?? false);
}

function alreadyRunning({ pid, baseUrl }: Run, file: string): StartError {
  return new StartError(
    `Setpoint is already running here${baseUrl ? ` on ${baseUrl}` : ""} (process ${pid}, see ${file}).
Stop it with Ctrl-C in its terminal or with  kill ${pid}
To run a second one beside it:  SETPOINT_HOME=.setpoint/second PORT=8090 npm start`,
  );
}
