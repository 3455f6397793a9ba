import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const TAIL_BYTES = 16 * 1024;
const LINE_LENGTH_MAX = 400;

/** The end of a log file, fit for the terminal. Empty where there is no such file. */
export function lastLines(file: string, count = 8): string {
  try {
    const descriptor = openSync(file, "r");
    try {
      const tail = Buffer.alloc(TAIL_BYTES);
      const from = Math.max(0, fstatSync(descriptor).size - TAIL_BYTES);
      const text = tail.toString("utf8", 0, readSync(descriptor, tail, 0, TAIL_BYTES, from));
      const lines = text.trimEnd().split("\n").slice(-count);
      return lines.map((line) => line.slice(0, LINE_LENGTH_MAX)).join("\n");
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return "";
  }
}
