import { spawn } from "node:child_process";

interface ProgramOptions {
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly cwd?: string | undefined;
  /** Kills the program, and everything that it started, when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each line of output as it arrives. */
  readonly onLine?: ((line: string) => void) | undefined;
}

/** A program could not be run or did not exit with 0. `output` is everything that it printed. */
export class ProgramFailure extends Error {
  readonly output: string;

  constructor(commandLine: string, outcome: string, output: string) {
    super(`"${commandLine}" ${outcome}`);
    this.name = "ProgramFailure";
    this.output = output.trim();
  }
}

/** Runs a program to its end and returns what it wrote to standard output. */
export function runProgram(program: string, args: readonly string[], options: ProgramOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    options.signal?.throwIfAborted();
    // A process group of its own: Ctrl-C in the terminal reaches only us, and we decide what it means.
    const child = spawn(program, args, {
      env: options.env,
      cwd: options.cwd,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let stdout = "";
    let output = "";
    let partialLine = "";
    const receive = (text: string): void => {
      output += text;
      const lines = (partialLine + text).split("\n");
      partialLine = lines.pop() ?? "";
      for (const line of lines) options.onLine?.(line);
    };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      receive(text);
    });
    child.stderr.setEncoding("utf8").on("data", receive);
    const abort = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      } catch {
        // It has ended by itself meanwhile, with everything that it started.
      }
    };
    options.signal?.addEventListener("abort", abort);
    const fail = (outcome: string): void => reject(new ProgramFailure([program, ...args].join(" "), outcome, output));
    child.once("error", (error) => fail(`could not be run: ${error.message}`));
    child.once("close", (code, signal) => {
      options.signal?.removeEventListener("abort", abort);
      if (options.signal?.aborted) reject(options.signal.reason);
      else if (code === 0) resolve(stdout);
      else fail(signal ? `was ended by ${signal}` : `failed with exit code ${code}`);
    });
  });
}
