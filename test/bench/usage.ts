import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Linux counts the time of a process in ticks of this length, for every processor that it runs on. */
const tickUs = 10_000;
const utimeField = 13;

/** Processor time of a process so far, all threads, those that have ended too. NaN where the kernel does not tell. */
export function cpuUsOf(pid: number): number {
  const stat = readProcFile(pid, "stat");
  if (stat === undefined) return Number.NaN;
  // The name of the program is in parentheses and may hold anything; fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[utimeField - 2]) + Number(fields[utimeField - 1])) * tickUs;
}

/** Resident memory of a process. NaN where the kernel does not tell. */
export function residentMibOf(pid: number): number {
  const kib = readProcFile(pid, "status")?.match(/^VmRSS:\s+(\d+) kB$/m)?.[1];
  return kib === undefined ? Number.NaN : Number(kib) / 1024;
}

const idleUsMax = 50_000;
const lookEveryMs = 1_000;
const looksMax = 60;

/** Waits until the processes rest: a database goes on for a while after a large fill. A minute at most. */
export async function waitUntilIdle(processes: readonly { readonly pid: number }[]): Promise<void> {
  const used = (): number => processes.reduce((sum, { pid }) => sum + cpuUsOf(pid), 0);
  let before = used();
  for (let look = 0; look < looksMax; look += 1) {
    await delay(lookEveryMs);
    const now = used();
    if (!(now - before > idleUsMax)) return;
    before = now;
  }
}

function readProcFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return undefined;
  }
}
