import { spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { configExitCode } from "../../services/platform/process/exit-code.ts";

interface BackgroundCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Standard output and standard error are appended to it. */
  readonly logFile: string;
}

/** How a process ended. */
export interface Exit {
  /** For people to read. */
  readonly reason: string;
  /** Ended by a signal, so its log does not say why. */
  readonly killed: boolean;
  /** It could not be run, or its settings are wrong: another start would end the same way. */
  readonly isPermanent: boolean;
}

export interface BackgroundProcess {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Asks it to stop, and kills it if it has not stopped in time. */
  stop(graceMs?: number): Promise<void>;
}

/** Longer than one of our processes takes to drain. */
const graceMsDefault = 20_000;

/** The exit codes of `setpriv` if the program may not be run, or does not exist. */
const notRunExitCodes = [126, 127];

const running = new Set<number>();

let deathSignalPrefix: readonly string[] | undefined;

/**
 * On Linux, the kernel can signal a child when its parent dies, even by SIGKILL. `setpriv` asks for that and then
 * becomes the command. Elsewhere the command is run as it is, and the next start stops what was left over.
 */
function endWithParent(): readonly string[] {
  const prefix = ["setpriv", "--pdeathsig", "TERM", "--"];
  deathSignalPrefix ??= spawnSync("setpriv", [...prefix.slice(1), "true"]).status === 0 ? prefix : [];
  return deathSignalPrefix;
}

/** Starts a process that does not outlive this one. Ctrl-C reaches it only through this one. */
export function startInBackground({ command, args, env, logFile }: BackgroundCommand): BackgroundProcess {
  const log = openSync(logFile, "a", 0o600);
  const [executable = command, ...rest] = [...endWithParent(), command, ...args];
  // A process group of its own: the terminal's Ctrl-C must not stop it before those that depend on it.
  const child = spawn(executable, rest, { env, stdio: ["ignore", log, log], detached: true });
  closeSync(log);
  const pid = child.pid ?? 0;
  if (pid) running.add(pid);
  const exited = new Promise<Exit>((resolve) => {
    child.once("error", (error) =>
      resolve({ reason: `could not be run: ${error.message}`, killed: false, isPermanent: true }),
    );
    child.once("exit", (code, signal) =>
      resolve({
        reason: signal ? `ended by ${signal}` : `exit code ${code}`,
        killed: signal !== null,
        isPermanent: code !== null && [configExitCode, ...notRunExitCodes].includes(code),
      }),
    );
  }).finally(() => running.delete(pid));
  const stop = async (graceMs = graceMsDefault): Promise<void> => {
    if (running.has(pid)) await stopProcess(pid, exited, graceMs);
  };
  return { pid, exited, stop };
}

/** Kills at once everything that this process has started and that still runs. */
export function killBackgroundProcesses(): void {
  for (const pid of running) sendSignal(pid, "SIGKILL");
}

/**
 * Stops a process that an earlier run left behind. The id alone proves nothing, because another process may have it by
 * now: the command line must contain `mark`.
 */
export async function stopLeftover(pid: number, mark: string): Promise<void> {
  const isLeft = (): boolean => commandLineOf(pid)?.includes(mark) ?? false;
  if (pid === process.pid || !isLeft()) return;
  const gone = (async () => {
    while (isLeft()) await delay(20);
  })();
  await stopProcess(pid, gone, graceMsDefault);
}

/** The command line of a running process, with its arguments separated by spaces. */
export function commandLineOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim() || undefined;
  } catch {
    if (process.platform === "linux") return undefined;
    return spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout?.trim() || undefined;
  }
}

async function stopProcess(pid: number, ended: Promise<unknown>, graceMs: number): Promise<void> {
  sendSignal(pid, "SIGTERM");
  const force = setTimeout(() => sendSignal(pid, "SIGKILL"), graceMs);
  await ended;
  clearTimeout(force);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended by itself meanwhile.
  }
}
