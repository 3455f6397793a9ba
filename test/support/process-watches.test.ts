import { expect, it } from "vitest";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import { collectGarbage } from "./garbage.ts";
import { noteProcessWatches } from "./process-watches.ts";

it("releases metrics that are no longer used", async () => {
  const endProcessWatches = noteProcessWatches();
  const registry = new WeakRef(new Metrics("test").registry);
  endProcessWatches();
  const isThere = () => {
    collectGarbage();
    return registry.deref() !== undefined;
  };
  await expect.poll(isThere).toBe(false);
});
