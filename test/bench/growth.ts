import { pageSize } from "./calls.ts";
import type { Context, Outcome } from "./context.ts";
import { fillPresets, fillTenants } from "./fill.ts";
import { errorsOf, measure } from "./measure.ts";
import { say, showProgress } from "./progress.ts";
import { type GrowthStep, growthTable } from "./report.ts";
import type { Tenant } from "./tenant.ts";
import { numberText } from "./text-table.ts";
import { waitUntilIdle } from "./usage.ts";
import { lookForLostRows } from "./verify.ts";

const growthSizes = [1_000, 100_000, 1_000_000];
/**
 * As many presets are read at each size, and they lie evenly among all: what is measured is a larger table, and not a
 * cache that has become too small.
 */
const readPresets = 1_000;

/** Measures the same requests while one workspace grows. */
export async function grow({ load, setpoint, options }: Context): Promise<Outcome> {
  const { side, databases } = setpoint;
  const [tenant] = (await fillTenants(databases, 0, 1)) as [Tenant];
  const steps: GrowthStep[] = [];
  let filled = 0;
  for (const size of growthSizes) {
    const startedAt = performance.now();
    const onProgress = (done: number): void =>
      showProgress(`filling: ${numberText(filled + done)} of ${numberText(size)}`);
    const fill = { tenant: 0, tenants: 1, each: size - filled, have: filled, firstId: filled, onProgress };
    await fillPresets(databases, fill);
    filled = size;
    say(`${numberText(size)} presets filled in ${numberText((performance.now() - startedAt) / 1000)} s`);
    await waitUntilIdle(side.processes);
    const get = { title: "get preset", task: { kind: "get", tenant, count: readPresets, of: size } } as const;
    const create = { title: "create, new slugs", task: { kind: "create-new", tenant, body: "ordinary" } } as const;
    // Processes that have just started compile as they go: the first size must not look dear for that.
    if (steps.length === 0) {
      const lanes = [get, create].map(({ task }) => ({ side, task }));
      await measure(load, lanes, { ...options.timing, rounds: 1 });
    }
    const created = (await load.ledger(side.name)).newPresets;
    const total = size + created;
    const read = [
      get,
      { title: "list, first page", task: { kind: "list-presets", tenant, offset: 0, total } },
      { title: "list, last page", task: { kind: "list-presets", tenant, offset: total - pageSize, total } },
    ] as const;
    const lanes = read.map(({ task }) => ({ side, task }));
    const measurements = [
      ...(await measure(load, lanes, options.timing)),
      // Last, and not in turn with the others: it changes the total that they check.
      ...(await measure(load, [{ side, task: create.task }], options.timing)),
    ];
    const titles = [...read, create].map(({ title }) => title);
    steps.push({ size, measurements: measurements.map((each, index) => ({ title: titles[index] ?? "", ...each })) });
    say(`${numberText(size)} presets measured`);
  }
  const faults = errorsOf(steps.flatMap(({ measurements }) => measurements));
  showProgress("comparing what is stored with what was acknowledged");
  faults.push(...(await lookForLostRows(databases.preset, side.name, await load.ledger(side.name), filled)));
  return { text: growthTable(steps), json: { timing: options.timing, steps, faults }, faults };
}
