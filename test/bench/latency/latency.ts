import type { Context, Outcome } from "../context.ts";
import { fillFixture } from "../fixture.ts";
import { errorsOf, type Measurement, measure } from "../measure.ts";
import { median } from "../median.ts";
import { say, showProgress } from "../progress.ts";
import { cpuCells, verdict } from "../report.ts";
import { numberText, textTable } from "../text-table.ts";
import { countPresets, lookForLostRows } from "../verify.ts";
import type { Workload } from "../workloads.ts";
import type { Step } from "./steps.ts";
import { followWay } from "./way.ts";

/**
 * Each kind of request runs code that has not been compiled before, and V8 compiles the last of it after thousands of
 * requests, which a lone caller makes slowly. So many for each second of a round.
 */
const warmUpRequestsPerSecond = 4_000;
/** The slowest of a hundred may take so many times as long as most do. */
const p99TimesMax = 3;

interface Figure {
  readonly workload: Pick<Workload, "name" | "title" | "p50RatioMax">;
  readonly concurrency: number;
  readonly ours: Measurement;
  readonly yardstick: Measurement;
}

/** What few callers wait for, beside the yardstick, and where a lone request spends that time. */
export async function measureLatency({ load, setpoint, openYardstick, options, room }: Context): Promise<Outcome> {
  const yardstick = await openYardstick();
  showProgress("filling both databases");
  const withCrowd = options.workloads.some(({ needsCrowd }) => needsCrowd);
  const fixture = await fillFixture(setpoint.databases, { withCrowd });
  await fillFixture(yardstick.databases, { withCrowd });
  const filled = await countPresets(setpoint.databases.preset);
  const { timing } = options;
  const figures: Figure[] = [];
  const ways: { readonly title: string; readonly steps: readonly Step[] }[] = [];
  for (const { task: taskOf, name, title, p50RatioMax } of options.workloads) {
    const task = taskOf(fixture);
    for (const concurrency of options.concurrencies) {
      const isFirst = concurrency === options.concurrencies[0];
      const warmUpRequests = isFirst ? warmUpRequestsPerSecond * timing.seconds : 0;
      const lanes = [setpoint, yardstick].map(({ side }) => ({ side, task }));
      const [ours, theirs] = await measure(load, lanes, { ...timing, concurrency, warmUpRequests });
      if (!ours || !theirs) throw new Error("A side was not measured");
      const figure = {
        workload: { name, title, ...(p50RatioMax !== undefined && { p50RatioMax }) },
        concurrency,
        ours,
        yardstick: theirs,
      };
      figures.push(figure);
      say(`${title}, ${concurrency}: p50 ratio ${numberText(p50RatioOf(figure), 2)}`);
    }
    const { name: side, port } = setpoint.side;
    const round = { side, port, task, seconds: timing.seconds, concurrency: 1 };
    ways.push({ title, steps: await followWay(setpoint.side, room, () => load.run(round)) });
  }
  const faults = errorsOf(figures.flatMap(({ ours, yardstick: theirs }) => [ours, theirs]));
  for (const { side, databases } of [setpoint, yardstick]) {
    faults.push(...(await lookForLostRows(databases.preset, side.name, await load.ledger(side.name), filled)));
  }
  const text = [latencyTable(figures), ...ways.map(({ title, steps }) => wayTable(title, steps))].join("\n\n");
  return { text, json: { timing, figures, ways, faults }, faults };
}

/** The median of what each round's p50 was to that of the yardstick's round beside it. */
function p50RatioOf({ ours, yardstick }: Figure): number {
  return median(ours.p50sMs.map((ms, round) => ms / (yardstick.p50sMs[round] ?? Number.NaN)));
}

function latencyTable(figures: readonly Figure[]): string {
  const header = ["workload", "connections", "side", "req/s", "p50 ms", "p99 ms", "p99.9 ms", "p50 ratio", "p99 : p50"];
  const rows = figures.flatMap((figure) => {
    const { workload, concurrency, ours, yardstick } = figure;
    const isLone = concurrency === 1;
    const ratio = verdict(p50RatioOf(figure), isLone ? workload.p50RatioMax : undefined, { digits: 2, sign: "≤" });
    return [
      [workload.title, String(concurrency), ...cells(ours), ratio, spread(ours, isLone), ...cpuCells(ours)],
      ["", "", ...cells(yardstick), "", spread(yardstick, false), ...cpuCells(yardstick)],
    ];
  });
  return textTable([...header, "CPU µs", "of which"], rows);
}

function cells({ side, rate, p50Ms, p99Ms, p999Ms }: Measurement): string[] {
  return [side, numberText(rate), ...[p50Ms, p99Ms, p999Ms].map((ms) => numberText(ms, 2))];
}

function spread({ p99Ms, p50Ms }: Measurement, isHeld: boolean): string {
  return verdict(p99Ms / p50Ms, isHeld ? p99TimesMax : undefined, { digits: 1, sign: "≤" });
}

/** The medians of the steps add up to about the median of the whole. */
function wayTable(title: string, steps: readonly Step[]): string {
  const total = steps.reduce((sum, { us }) => sum + us, 0);
  const rows = [...steps, { title: "all", us: total }].map((step) => [step.title, numberText(step.us)]);
  return textTable([`${title}: the way of one request`, "µs"], rows);
}
