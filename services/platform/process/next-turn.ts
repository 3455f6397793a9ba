/** Resolves in the next turn of the event loop, so that what else is waiting is not kept from its own by long work. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * For a timer that is about to give something up: calls back once what has arrived by now was read. In a turn of the event
 * loop timers come first, so a process that was held up, its machine busy or asleep, would give up what lies answered in
 * its sockets.
 */
export function afterArrivals(callback: () => void): void {
  setImmediate(callback);
}
