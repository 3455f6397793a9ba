import { createRequire } from "node:module";
import type { PerformanceObserver } from "node:perf_hooks";

/** The module object that prom-client uses; a named import could not be replaced. */
const hooks = createRequire(import.meta.url)("node:perf_hooks") as typeof import("node:perf_hooks");

/** One list for the whole process, because test files may each have a copy of this module. */
const lists = globalThis as { setpointProcessWatches?: (() => unknown)[] };

/**
 * Records every observer that is started in this process from now on; the returned function stops all of them. For
 * every registry, prom-client observes the event loop and the garbage collector, and never stops. A process has one
 * registry, but a test process has one for each system that its tests open, and would keep all of them in memory: it
 * would spend most of its time on garbage collection.
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
