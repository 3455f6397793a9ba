import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import { noteProcessWatches } from "./process-watches.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

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
