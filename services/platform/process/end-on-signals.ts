/** What tells a process to end, and the exit code of one that has been ended by it. */
const exitCodes = { SIGTERM: 143, SIGINT: 130 } as const;
const signals = ["SIGTERM", "SIGINT"] as const;
type EndSignal = (typeof signals)[number];

/**
 * Lets a signal end this process even if it is process 1 of a container, which the kernel otherwise protects from every
 * signal that it does not handle.
 */
export function endOnSignals(): void {
  onEndSignal((signal) => {
    process.removeAllListeners(signal);
    // Ends any other process, so that a shell sees why.
    process.kill(process.pid, signal);
    process.exit(exitCodes[signal]);
  });
}

/** Does this, and nothing else, on each signal to end. */
export function onEndSignal(action: (signal: EndSignal) => void): void {
  for (const signal of signals) process.removeAllListeners(signal).on(signal, action);
}
