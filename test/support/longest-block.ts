/** Nothing takes more than 50 ms on a machine that is quiet; five times that leaves room for one that is not. */
export const blockMsMax = 250;

/**
 * The longest that work keeps the event loop from anything else, in milliseconds of CPU time of this thread: what other
 * processes take of the machine does not count. The best of a few tries, because the first ones compile; none is made
 * once one was quick enough.
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
