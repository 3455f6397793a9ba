import type { Measurement } from "./measure.ts";
import { median } from "./median.ts";
import { numberText, textTable } from "./text-table.ts";
import type { Workload } from "./workloads.ts";

/** A workload and what each side did with it. */
export interface Comparison {
  readonly workload: Pick<Workload, "name" | "title" | "ratioMin" | "cpuUsMax" | "cpuTimesMax">;
  readonly ours: Measurement;
  readonly yardstick: Measurement;
  /** What ours did meanwhile with the workload that this one's processor time is held against, if any. */
  readonly cpuBase?: Measurement | undefined;
}

/** The median of what each round of ours was to the yardstick's round beside it. */
export function ratioOf({ ours, yardstick }: Pick<Comparison, "ours" | "yardstick">): number {
  return median(ours.rates.map((rate, round) => rate / (yardstick.rates[round] ?? Number.NaN)));
}

/** The processor time of one request, all processes together. */
export function cpuUsTotal({ cpuUs }: Pick<Measurement, "cpuUs">): number {
  return Object.values(cpuUs).reduce((sum, us) => sum + us, 0);
}

export function comparisonTable(comparisons: readonly Comparison[]): string {
  const header = ["workload", "side", "req/s", "p50 ms", "p99 ms", "errors", "CPU µs", "of which", "rate ratio", "CPU"];
  const rows = comparisons.flatMap((comparison) => {
    const { workload, ours, yardstick } = comparison;
    const ratio = verdict(ratioOf(comparison), workload.ratioMin, { digits: 2, sign: "≥" });
    return [
      [workload.title, ...measurementCells(ours), ratio, cpuVerdict(comparison)],
      ["", ...measurementCells(yardstick), "", ""],
    ];
  });
  return textTable(header, rows);
}

/** Processor time beside its target; nothing where it has none. */
function cpuVerdict({ workload: { cpuUsMax, cpuTimesMax }, ours, cpuBase }: Comparison): string {
  if (cpuUsMax !== undefined) return verdict(cpuUsTotal(ours), cpuUsMax, { digits: 0, sign: "≤" });
  if (!cpuTimesMax || !cpuBase) return "";
  const base = cpuUsTotal(cpuBase);
  const times = verdict(cpuUsTotal(ours) / base, cpuTimesMax.times, { digits: 2, sign: "≤" });
  return `${cpuTimesMax.of} ${numberText(base)} × ${times}`;
}

function measurementCells(measurement: Measurement): string[] {
  const { side, rate, p50Ms, p99Ms, errors } = measurement;
  return [side, numberText(rate), numberText(p50Ms, 1), numberText(p99Ms, 1), String(errors), ...cpuCells(measurement)];
}

/** Processor time for one request, in all and of each process. */
export function cpuCells(measurement: Measurement): [all: string, parts: string] {
  const parts = Object.entries(measurement.cpuUs).map(([name, us]) => `${name} ${numberText(us)}`);
  return [numberText(cpuUsTotal(measurement)), parts.join(" + ")];
}

/** A value beside its target: `1.31 (≥ 1.0: met)`; the value alone where it has none. */
export function verdict(
  value: number,
  target: number | undefined,
  { digits, sign }: { digits: number; sign: "≥" | "≤" },
): string {
  const text = numberText(value, digits);
  if (target === undefined) return text;
  const isMet = sign === "≥" ? value >= target : value <= target;
  return `${text} (${sign} ${numberText(target, digits)}: ${isMet ? "met" : "MISSED"})`;
}

/** The resident memory of each process after the last workload. */
export function memoryLine({ residentMib }: Pick<Measurement, "residentMib">): string {
  return Object.entries(residentMib)
    .map(([name, mib]) => `${name} ${numberText(mib)}`)
    .join(", ");
}

/** What requests cost while there are so many presets. */
export interface GrowthStep {
  readonly size: number;
  readonly measurements: readonly (Measurement & { readonly title: string })[];
}

/** Each request at each size, and what it costs beside the smallest size. */
export function growthTable(steps: readonly GrowthStep[]): string {
  const header = ["request", "presets", "req/s", "p50 ms", "p99 ms", "CPU µs", "of which", "p50 factor", "CPU factor"];
  const [first] = steps;
  const rows = (first?.measurements ?? []).flatMap((base, index) =>
    steps.flatMap(({ size, measurements }) => {
      const measurement = measurements[index];
      if (!measurement) return [];
      const [, rate = "", p50 = "", p99 = "", , cpu = "", parts = ""] = measurementCells(measurement);
      const cells = [base.title, numberText(size), rate, p50, p99, cpu, parts];
      return [[...cells, ...factors(measurement, base)]];
    }),
  );
  return textTable(header, rows);
}

/** Pages of lists, each beside the last one before it that is a base. */
export function depthTable(
  rows: readonly (Measurement & { readonly title: string; readonly isBase: boolean })[],
): string {
  const header = ["list", "req/s", "p50 ms", "p99 ms", "errors", "CPU µs", "of which", "p50 factor", "CPU factor"];
  let base = rows[0];
  const cells = rows.map((row) => {
    if (row.isBase) base = row;
    return [row.title, ...measurementCells(row).slice(1), ...factors(row, base ?? row)];
  });
  return textTable(header, cells);
}

/** How many times as much as the base: latency and processor time. */
function factors(measurement: Measurement, base: Measurement): string[] {
  return [measurement.p50Ms / base.p50Ms, cpuUsTotal(measurement) / cpuUsTotal(base)].map((each) =>
    numberText(each, 2),
  );
}

/** Round after round of the same load, oldest first. */
export function soakTable(rounds: readonly Measurement[]): string {
  const header = ["round", "req/s", "p50 ms", "p99 ms", "errors", "CPU µs", "resident MiB"];
  const cells = rounds.map((round, index) => [
    String(index + 1),
    ...measurementCells(round).slice(1, -1),
    memoryLine(round),
  ]);
  return textTable(header, cells);
}
