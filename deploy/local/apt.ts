import { existsSync } from "node:fs";
import { findExecutable } from "./executables.ts";
import { ProgramFailure, runProgram } from "./program.ts";

/** What apt prints when it fails, and what to do about it. The first match counts. */
function advicesFor(title: string): readonly (readonly [said: RegExp, advice: string])[] {
  return [
    [/could not get lock|unable to acquire/i, "another program is using apt; wait until it has ended"],
    [/no space left|enough free space/i, "the disk is full; make some room"],
    [
      /resolv|failed to fetch|could not connect|unable to connect|network is unreachable|timed out/i,
      "the package sources are out of reach; check the network, and behind a proxy set http_proxy",
    ],
    [
      /unable to locate package|no installation candidate|no packages found|can't select candidate/i,
      `the package sources have no ${title}; add one that has`,
    ],
  ];
}

/** Runs apt's programs, and remembers the output of those that failed. */
export interface Apt {
  run(program: string, args: readonly string[], options?: AptOptions): Promise<string>;
  /** What to do about a failure, and the end of the output. */
  explain(error: unknown): string;
}

interface AptOptions {
  readonly cwd?: string | undefined;
  readonly onLine?: (line: string) => void;
}

/** `title` names what is to be installed. */
export function openApt(title: string): Apt {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  let output = "";
  return {
    run: (program, args, options) =>
      runProgram(program, args, { env, ...options }).catch((error: unknown) => {
        if (error instanceof ProgramFailure) output += `${error.output}\n`;
        throw error;
      }),
    explain: (error) => {
      if (!(error instanceof ProgramFailure)) throw error;
      const advice = advicesFor(title).find(([said]) => said.test(output))?.[1] ?? error.message;
      return `${advice}. The end of what apt said:\n${output.trim().split("\n").slice(-5).join("\n")}`;
    },
  };
}

/** Whether packages can be installed with apt. Without root, its package lists are used as they are. */
export function hasApt(): boolean {
  return existsSync("/etc/debian_version") && findExecutable("apt-get") !== undefined;
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}
