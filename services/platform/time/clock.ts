/**
 * Milliseconds of a clock that only goes forward. Every deadline, age and timeout uses it: the wall clock may be set
 * back or ahead while a process runs, and serves only for times that are stored or agreed on with other machines.
 */
export function monotonicMs(): number {
  return performance.now();
}
