/** Resolves in the next turn of the event loop, so that what else is waiting is not kept from its own by long work. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
