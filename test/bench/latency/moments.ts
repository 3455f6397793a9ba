import { join } from "node:path";

/** What a process was at, and when. */
export interface Moment {
  /** By a clock that all processes of a machine share. */
  readonly atUs: number;
  readonly what: What;
  /** Of a statement: what it does, without its values. */
  readonly detail?: string;
}

export type What =
  | "request received"
  | "call sent"
  | "call received"
  | "statement sent"
  | "statement answered"
  | "call answered"
  | "answer received"
  | "request answered";

/** Names the file that a process writes its moments to. */
export const momentsFileVariable = "BENCH_MOMENTS_FILE";

export function momentsFile(folder: string, process: string): string {
  return join(folder, `${process}.moments.json`);
}
