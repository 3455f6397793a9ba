/**
 * Milliseconds of a clock that only goes forward. Every deadline, age and timeout is counted in these: the wall clock
 * is set back and ahead while a process runs, and is for what is stored, or agreed with other machines.
 */
export function monotonicMs(): number {
  return performance.now();
}
