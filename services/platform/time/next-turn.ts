/** Resolves in the next turn of the event loop, so that long work does not starve everything else. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Calls back once everything that has arrived by now was read. For whoever is about to give something up: a process that
 * was stalled, its machine busy or asleep, would otherwise give up calls whose answers are already in its sockets.
 *
 * It takes two turns of the event loop, because the present one reads only the sockets that were readable when it began.
 */
export function afterArrivals(callback: () => void): void {
  setImmediate(() => setImmediate(callback));
}
