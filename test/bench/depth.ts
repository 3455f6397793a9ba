import { pageSize, type Task } from "./calls.ts";
import type { Context, Outcome } from "./context.ts";
import { fillPresets, fillTenants, fillVersions } from "./fill.ts";
import { numberedSlug } from "./ids.ts";
import { errorsOf, measure } from "./measure.ts";
import { showProgress } from "./progress.ts";
import { depthTable } from "./report.ts";
import type { Tenant } from "./tenant.ts";
import { waitUntilIdle } from "./usage.ts";

const smallCount = 100;
const presetCount = 100_000;
const versionCount = 10_000;

/** Measures the first and the last page of long lists beside the page of a short one. */
export async function measureDepth({ load, setpoint, options }: Context): Promise<Outcome> {
  const { side, databases } = setpoint;
  showProgress("filling");
  const [small, large] = (await fillTenants(databases, 0, 2)) as [Tenant, Tenant];
  await fillPresets(databases, { tenant: 0, tenants: 1, each: smallCount, firstId: 0 });
  await fillPresets(databases, { tenant: 1, tenants: 1, each: presetCount, firstId: smallCount });
  await fillVersions(databases, { tenant: 0, preset: 0, versions: smallCount });
  await fillVersions(databases, { tenant: 1, preset: smallCount, versions: versionCount });
  await waitUntilIdle(side.processes);
  const slug = numberedSlug(0);
  const presets = (tenant: Tenant, total: number, offset = 0): Task => ({
    kind: "list-presets",
    tenant,
    offset,
    total,
  });
  const versions = (tenant: Tenant, total: number, offset = 0): Task => ({
    kind: "list-versions",
    tenant,
    slug,
    offset,
    total,
  });
  const lists = [
    { title: "presets, page of 100", task: presets(small, smallCount), isBase: true },
    { title: "presets, first page of 100,000", task: presets(large, presetCount) },
    { title: "presets, last page of 100,000", task: presets(large, presetCount, presetCount - pageSize) },
    { title: "versions, page of 100", task: versions(small, smallCount), isBase: true },
    { title: "versions, first page of 10,000", task: versions(large, versionCount) },
    { title: "versions, last page of 10,000", task: versions(large, versionCount, versionCount - pageSize) },
  ];
  const lanes = lists.map(({ task }) => ({ side, task }));
  const measurements = await measure(load, lanes, options.timing, (round) => showProgress(`round ${round}`));
  const rows = measurements.map((measurement, index) => {
    const { title = "", isBase = false } = lists[index] ?? {};
    return { title, isBase, ...measurement };
  });
  const faults = errorsOf(measurements);
  return { text: depthTable(rows), json: { timing: options.timing, rows, faults }, faults };
}
