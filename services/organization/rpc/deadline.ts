const readTimeoutMs = 5_000;

/** When a call stops waiting for the database, in epoch milliseconds; its caller may have set an earlier time. */
export function readDeadlineMs(callDeadlineMs: number | undefined): number {
  return Math.min(callDeadlineMs ?? Number.POSITIVE_INFINITY, Date.now() + readTimeoutMs);
}
