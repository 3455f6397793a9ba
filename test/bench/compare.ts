import type { Context, Outcome } from "./context.ts";
import { fillKeys } from "./fill.ts";
import { fillFixture } from "./fixture.ts";
import { errorsOf, firstWarmUpSeconds, measure, type Timing } from "./measure.ts";
import { say, showProgress } from "./progress.ts";
import { type Comparison, comparisonTable, memoryLine, ratioOf } from "./report.ts";
import { numberText } from "./text-table.ts";
import { countPresets, lookForLostRows } from "./verify.ts";
import { workloads } from "./workloads.ts";

const firstWarmUpLonger = 3;
/** More than one gateway can answer. */
const newKeysPerSecond = 10_000;

/** Runs every workload on both sides. */
export async function compare({ load, setpoint, openYardstick, options }: Context): Promise<Outcome> {
  const yardstick = await openYardstick();
  showProgress("filling both databases");
  const withCrowd = options.workloads.some(({ needsCrowd }) => needsCrowd);
  const fixture = await fillFixture(setpoint.databases, { withCrowd });
  await fillFixture(yardstick.databases, { withCrowd });
  if (options.workloads.some(({ needsNewKeys }) => needsNewKeys)) {
    await fillKeys(setpoint.databases, fixture.reader, newKeysFor(options.timing));
  }
  const filled = await countPresets(setpoint.databases.preset);
  const { timing } = options;
  const comparisons: Comparison[] = [];
  for (const { task: taskOf, needsCrowd: _, needsNewKeys: __, ...workload } of options.workloads) {
    const onRound = (round: number): void =>
      showProgress(`${workload.title}: ${round === 0 ? "warm-up" : `round ${round} of ${timing.rounds}`}`);
    const task = taskOf(fixture);
    const lanes = [setpoint, yardstick].map(({ side }) => ({ side, task }));
    const base = workloads.find(({ name }) => name === workload.cpuTimesMax?.of);
    if (base) lanes.push({ side: setpoint.side, task: base.task(fixture) });
    const isFirst = comparisons.length === 0;
    const warmUpSeconds = isFirst ? firstWarmUpSeconds(timing, firstWarmUpLonger) : timing.warmUpSeconds;
    const [ours, theirs, cpuBase] = await measure(load, lanes, { ...timing, warmUpSeconds }, onRound);
    if (!ours || !theirs) throw new Error("A side was not measured");
    const comparison = { workload, ours, yardstick: theirs, cpuBase };
    comparisons.push(comparison);
    const rates = `${numberText(ours.rate)}/s to ${numberText(theirs.rate)}/s`;
    say(`${workload.title}: ${rates}, ratio ${numberText(ratioOf(comparison), 2)}`);
  }
  const faults = errorsOf(
    comparisons.flatMap(({ ours, yardstick: theirs, cpuBase }) => [ours, theirs, ...(cpuBase ? [cpuBase] : [])]),
  );
  showProgress("comparing what is stored with what was acknowledged");
  for (const { side, databases } of [setpoint, yardstick]) {
    faults.push(...(await lookForLostRows(databases.preset, side.name, await load.ledger(side.name), filled)));
  }
  const last = comparisons.at(-1);
  const memory = last ? `\n\nResident MiB at the end: ${memoryLine(last.ours)}; ${memoryLine(last.yardstick)}` : "";
  return {
    text: `${comparisonTable(comparisons)}${memory}`,
    json: { timing, comparisons, faults },
    faults,
  };
}

/** So many that no round runs out of them. */
function newKeysFor(timing: Timing): number {
  const secondsMax = firstWarmUpSeconds(timing, firstWarmUpLonger) + timing.rounds * timing.seconds;
  return Math.ceil(secondsMax * newKeysPerSecond);
}
