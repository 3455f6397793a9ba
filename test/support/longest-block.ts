/** Nothing takes more than 50 ms on an idle machine; five times that leaves room for a busy one. */
export const blockMsMax = 250;

/**
 * The longest time for which work blocks the event loop, in milliseconds of CPU time of this thread, so that other
 * processes on the machine do not count. It is the best of a few attempts, because the first ones compile; there are no
 * more once one was fast enough.
 */
export async function longestBlock(work: () => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4 && best >= blockMsMax; tries++) best = Math.min(best, await longestOnce(work));
  return best;
}

async function longestOnce(work: () => unknown): Promise<number> {
  let longest = 0;
  let isDone = false;
  let last = cpuMs();
  const watch = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isDone) setImmediate(watch);
  };
  watch();
  try {
    await work();
  } catch {
    // Most of what takes long is refused in the end.
  }
  await new Promise((resolve) => setImmediate(resolve));
  isDone = true;
  watch();
  return longest;
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
