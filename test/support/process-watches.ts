import { createRequire } from "node:module";
import type { PerformanceObserver } from "node:perf_hooks";

/** As prom-client sees it; what is imported from it by name cannot be replaced. */
const hooks = createRequire(import.meta.url)("node:perf_hooks") as typeof import("node:perf_hooks");

/** One list for the process, whose test files may each have a copy of this module. */
const lists = globalThis as { setpointProcessWatches?: (() => unknown)[] };

/**
 * Notes what watches this process from now on; the function that is returned ends all of it. For every registry,
 * prom-client watches the event loop and the garbage collector, and never ends that. A process has one registry, but one
 * that runs tests has one for each system that these open, and would keep all of them in memory: most of its time would go
 * into looking through that for garbage.
 */
export function noteProcessWatches(): () => void {
  lists.setpointProcessWatches ??= watchHooks();
  const ends = lists.setpointProcessWatches;
  return () => {
    for (const end of ends.splice(0)) end();
  };
}

function watchHooks(): (() => unknown)[] {
  const ends: (() => unknown)[] = [];
  const { prototype } = hooks.PerformanceObserver;
  const { observe } = prototype;
  prototype.observe = function (this: PerformanceObserver, ...args: Parameters<typeof observe>) {
    ends.push(() => this.disconnect());
    return observe.apply(this, args);
  } as typeof observe;
  const { monitorEventLoopDelay } = hooks;
  hooks.monitorEventLoopDelay = (options) => {
    const histogram = monitorEventLoopDelay(options);
    ends.push(() => histogram.disable());
    return histogram;
  };
  return ends;
}
