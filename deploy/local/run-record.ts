import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { commandLineOf, stopLeftover } from "./background-process.ts";
import { writePrivateFile } from "./private-file.ts";
import { StartError } from "./start-error.ts";

interface Run {
  readonly pid: number;
  readonly baseUrl?: string;
  /** The process ids of the started processes, by name. */
  readonly children: Readonly<Record<string, number>>;
}

/** The record of who is running in a home folder. There may be only one at a time. */
export interface RunRecord {
  update(change: Partial<Omit<Run, "pid">>): void;
  remove(): void;
}

/**
 * Takes the home folder for this process, and stops what a killed run left behind. A leftover process is recognized by
 * `mark`, which its command line contains.
 */
export async function claimHome(file: string, mark: string): Promise<RunRecord> {
  let run: Run = { pid: process.pid, children: {} };
  const left = claim(file, run);
  for (const pid of Object.values(left.children)) await stopLeftover(pid, mark);
  return {
    update: (change) => {
      run = { ...run, ...change, children: { ...run.children, ...change.children } };
      try {
        writePrivateFile(file, JSON.stringify(run));
      } catch {
        // The disk may be full. The processes keep running, and on most systems they end with us in any case.
      }
    },
    remove: () => rmSync(file, { force: true }),
  };
}

/** Puts our record in place. Returns the record of a run that ended without removing its own. */
function claim(file: string, run: Run): Run {
  let left: Run = { pid: 0, children: {} };
  const ours = `${file}.${run.pid}`;
  try {
    writeFirst(ours, run);
    for (;;) {
      try {
        // Fails if there is a record, and creates ours with its whole content at once: of two processes, only one
        // succeeds.
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

/** The first file that a start writes, so the one that shows that the disk is full. */
function writeFirst(file: string, run: Run): void {
  try {
    writeFileSync(file, JSON.stringify(run), { mode: 0o600 });
  } catch (error) {
    throw new StartError(`${file} cannot be written: ${(error as Error).message}. Free some disk space.`);
  }
}

/** Renames it first: if another process was faster, the renamed record is theirs, and is put back. */
function removeEnded(file: string, aside: string): void {
  try {
    renameSync(file, aside);
    if (isRunning(readRun(aside).pid)) linkSync(aside, file);
  } catch (error) {
    // Already gone, or rewritten by the run that it belongs to.
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
