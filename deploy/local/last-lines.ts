import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const tailBytes = 16 * 1024;
const lineLengthMax = 400;

/** The end of a log file, fit for the terminal. Empty where there is no such file. */
export function lastLines(file: string, count = 8): string {
  try {
    const descriptor = openSync(file, "r");
    try {
      const tail = Buffer.alloc(tailBytes);
      const from = Math.max(0, fstatSync(descriptor).size - tailBytes);
      const text = tail.toString("utf8", 0, readSync(descriptor, tail, 0, tailBytes, from));
      const lines = text.trimEnd().split("\n").slice(-count);
      return lines.map((line) => line.slice(0, lineLengthMax)).join("\n");
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return "";
  }
}
