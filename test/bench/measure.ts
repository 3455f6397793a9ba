import { setTimeout as delay } from "node:timers/promises";
import type { Task } from "./calls.ts";
import { Histogram } from "./histogram.ts";
import type { LoadProcess } from "./load-process.ts";
import { median } from "./median.ts";
import type { SideName, Target } from "./processes.ts";
import { cpuUsOf, residentMibOf } from "./usage.ts";

export interface Timing {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** The warm-up is repeated until each side has answered so many requests, or 20 times. */
  readonly warmUpRequests?: number;
  readonly concurrency: number;
}

/** What one side did with one workload. */
export interface Measurement {
  readonly side: SideName;
  /** Requests per second, in each round. */
  readonly rates: readonly number[];
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** In each round. */
  readonly p50sMs: readonly number[];
  readonly requests: number;
  readonly errors: number;
  readonly firstErrors: readonly string[];
  /** Per request, by process. */
  readonly cpuUs: Readonly<Record<string, number>>;
  /** Per request, in each round: of the process that is named first. */
  readonly firstCpuUs: readonly number[];
  readonly firstByteP50Ms: number;
  /** Pieces that an answer came in, on average. */
  readonly reads: number;
  readonly clientCpuUs: number;
  /** After the last round, by process. */
  readonly residentMib: Readonly<Record<string, number>>;
}

const warmUpsMax = 20;

/** Before each round the machine comes to rest, so that none pays for what the one before it left to be done. */
const restMs = 200;

/**
 * How long the first warm-up is, which is a longer one: processes that have just started compile as they go. Where rounds
 * are too short to tell anything, it is short, too.
 */
export function firstWarmUpSeconds({ seconds, warmUpSeconds }: Timing, longer: number): number {
  return warmUpSeconds + Math.min(longer, 10 * seconds);
}

/** What is measured beside others. */
export interface Lane {
  readonly side: Target;
  readonly task: Task;
}

/** Runs all lanes in turn, round by round: whatever disturbs the machine disturbs each of them. */
export async function measure(
  load: LoadProcess,
  lanes: readonly Lane[],
  timing: Timing,
  onRound: (round: number) => void = () => {},
): Promise<Measurement[]> {
  const tallies = lanes.map((lane) => new Tally(lane));
  onRound(0);
  for (const tally of tallies) {
    let requests = 0;
    for (let count = 0; count === 0 || (count < warmUpsMax && requests < (timing.warmUpRequests ?? 0)); count += 1) {
      await delay(restMs);
      requests += await tally.run(load, timing, true);
    }
  }
  for (let round = 1; round <= timing.rounds; round += 1) {
    onRound(round);
    for (const tally of tallies) {
      await delay(restMs);
      await tally.run(load, timing, false);
    }
  }
  return tallies.map((tally) => tally.result());
}

/** What went wrong, in words, for each measurement that had errors. */
export function errorsOf(measurements: readonly Measurement[]): string[] {
  return measurements.flatMap(({ side, errors, firstErrors }) =>
    errors > 0 ? [`${side}: ${errors} errors, such as: ${firstErrors.join("; ")}`] : [],
  );
}

class Tally {
  readonly #lane: Lane;
  readonly #rates: number[] = [];
  readonly #histogram = new Histogram();
  readonly #firstBytes = new Histogram();
  readonly #cpuUs = new Map<string, number>();
  readonly #firstErrors: string[] = [];
  readonly #firstCpuUs: number[] = [];
  readonly #p50sMs: number[] = [];
  #reads = 0;
  #clientCpuUs = 0;
  #requests = 0;
  #errors = 0;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  /** Returns how many requests were answered. */
  async run(load: LoadProcess, timing: Timing, isWarmUp: boolean): Promise<number> {
    const { task } = this.#lane;
    const { name: side, port, processes, rotateLogs } = this.#lane.side;
    const { concurrency } = timing;
    const seconds = isWarmUp ? timing.warmUpSeconds : timing.seconds;
    const before = processes.map(({ pid }) => cpuUsOf(pid));
    const result = await load.run({ side, port, task, seconds, concurrency });
    const after = processes.map(({ pid }) => cpuUsOf(pid));
    rotateLogs();
    this.#errors += result.errors;
    this.#firstErrors.push(...result.firstErrors);
    if (isWarmUp) return result.requests;
    this.#requests += result.requests;
    this.#rates.push(result.requests / result.seconds);
    const latencies = new Histogram(result.counts);
    this.#p50sMs.push(latencies.quantileMs(0.5));
    this.#histogram.add(latencies);
    this.#firstBytes.add(new Histogram(result.firstByteCounts));
    this.#reads += result.reads;
    this.#clientCpuUs += result.clientCpuUs;
    for (const [index, { name }] of processes.entries()) {
      const usedUs = (after[index] ?? 0) - (before[index] ?? 0);
      this.#cpuUs.set(name, (this.#cpuUs.get(name) ?? 0) + usedUs);
      if (index === 0) this.#firstCpuUs.push(usedUs / result.requests);
    }
    return result.requests;
  }

  result(): Measurement {
    const { name: side, processes } = this.#lane.side;
    const perRequest = (us: number): number => us / this.#requests;
    return {
      side,
      rates: this.#rates,
      rate: median(this.#rates),
      p50Ms: this.#histogram.quantileMs(0.5),
      p99Ms: this.#histogram.quantileMs(0.99),
      p999Ms: this.#histogram.quantileMs(0.999),
      p50sMs: this.#p50sMs,
      requests: this.#requests,
      errors: this.#errors,
      firstErrors: this.#firstErrors.slice(0, 3),
      cpuUs: Object.fromEntries([...this.#cpuUs].map(([name, us]) => [name, perRequest(us)])),
      firstCpuUs: this.#firstCpuUs,
      firstByteP50Ms: this.#firstBytes.quantileMs(0.5),
      reads: this.#reads / this.#requests,
      clientCpuUs: perRequest(this.#clientCpuUs),
      residentMib: Object.fromEntries(processes.map(({ name, pid }) => [name, residentMibOf(pid)])),
    };
  }
}
