import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const tailBytes = 16 * 1024;
const linesMax = 8;
const lineLengthMax = 400;

/** The end of a log file, for the terminal. Empty if there is no such file. */
export function lastLines(file: string): string {
  const lines = readTail(file);
  return lines.map((line) => line.slice(0, lineLengthMax)).join("\n");
}

/** The line of a log file that most likely says why its process ended. Empty if there is none. */
export function mostInformativeLine(file: string): string {
  // The last line of a database is "Aborting": the lines before say more.
  const lines = readTail(file).filter((line) => !/aborting$/i.test(line));
  const line = lines.findLast((each) => /error|fatal/i.test(each)) ?? lines.at(-1) ?? "";
  return (errorMessageOf(line) ?? line).trim().slice(0, lineLengthMax);
}

/** The error message in a JSON log line. */
function errorMessageOf(line: string): string | undefined {
  try {
    const { err, message } = JSON.parse(line);
    return err?.message ?? message;
  } catch {
    return undefined;
  }
}

/**
 * The result of a program that prints one line. A module that NODE_OPTIONS loads into every Node, such as
 * `dotenv/config`, may have printed something before.
 */
export function lastLineOf(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}

function readTail(file: string): string[] {
  try {
    const descriptor = openSync(file, "r");
    try {
      const tail = Buffer.alloc(tailBytes);
      const from = Math.max(0, fstatSync(descriptor).size - tailBytes);
      const text = tail.toString("utf8", 0, readSync(descriptor, tail, 0, tailBytes, from));
      return text.trimEnd().split("\n").slice(-linesMax);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return [];
  }
}
