import type { Context, Outcome } from "./context.ts";
import { fillFixture } from "./fixture.ts";
import { errorsOf, type Measurement, measure } from "./measure.ts";
import { say, showProgress } from "./progress.ts";
import { soakTable } from "./report.ts";
import { numberText } from "./text-table.ts";
import { countPresets, lookForLostRows } from "./verify.ts";

const firstWarmUpSeconds = 10;

/** Steady mixed load, reported round by round: the last one must look like the first. */
export async function soak({ load, setpoint, options }: Context): Promise<Outcome> {
  const { side, databases } = setpoint;
  showProgress("filling");
  const { crowd: tenants, crowdPresets: presets } = await fillFixture(databases, { withCrowd: true });
  const filled = await countPresets(databases.preset);
  const lanes = [{ side, task: { kind: "mixed", tenants, presets } as const }];
  const rounds: Measurement[] = [];
  for (let round = 1; round <= options.timing.rounds; round += 1) {
    const warmUpSeconds = round === 1 ? firstWarmUpSeconds : 0;
    rounds.push(...(await measure(load, lanes, { ...options.timing, rounds: 1, warmUpSeconds })));
    say(`round ${round} of ${options.timing.rounds}: ${numberText(rounds.at(-1)?.rate ?? 0)}/s`);
  }
  const faults = errorsOf(rounds);
  faults.push(...(await lookForLostRows(databases.preset, side.name, await load.ledger(side.name), filled)));
  return { text: soakTable(rounds), json: { rounds, faults }, faults };
}
