import { setTimeout as delay } from "node:timers/promises";
import type { LoadProcess } from "../load-process.ts";
import type { Timing } from "../measure.ts";
import type { Target } from "../processes.ts";
import { residentMibOf } from "../usage.ts";

export const heldStreams = 1_000;
/** A heap grows for the first few. */
const timesMax = 8;
const openSecondsMax = 2;
const restMs = 1_000;

/** Resident memory of a gateway around many streams that are open at once. */
export interface HeldStreams {
  readonly gateway: string;
  readonly beforeMib: number;
  /** Each time, just before they end. */
  readonly openMib: readonly number[];
  /** Each time, a moment after they have ended. */
  readonly afterMib: readonly number[];
  /** Streams that broke off. */
  readonly broken: number;
}

/** Opens them all, keeps them open for a while in which each is busy now and then, and ends them; some times over. */
export async function holdStreams(
  load: LoadProcess,
  { port, processes }: Target,
  { gateway, request, timing }: { readonly gateway: string; readonly request: string; readonly timing: Timing },
): Promise<HeldStreams> {
  const mib = (): number => residentMibOf(processes[0]?.pid ?? 0);
  const beforeMib = mib();
  const openMib: number[] = [];
  const afterMib: number[] = [];
  let broken = 0;
  const times = Math.min(timesMax, 2 * timing.rounds);
  for (let time = 0; time < times; time += 1) {
    await load.hold({ port, request, count: heldStreams });
    await delay(1000 * Math.min(timing.seconds, openSecondsMax));
    openMib.push(mib());
    broken += heldStreams - (await load.letGo());
    await delay(restMs);
    afterMib.push(mib());
  }
  return { gateway, beforeMib, openMib, afterMib, broken };
}
