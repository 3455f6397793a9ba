const RealDate = Date;
let shiftMs = 0;

/** A wall clock that differs from the machine's. Deadlines and ages must not depend on it. */
class ShiftedDate extends RealDate {
  // biome-ignore lint/suspicious/noExplicitAny: Date takes what it takes.
  constructor(...parameters: any[]) {
    super(...((parameters.length === 0 ? [ShiftedDate.now()] : parameters) as [number]));
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
}

/** Moves the wall clock of this process forward, or back. */
export function shiftClock(ms: number): void {
  shiftMs = ms;
  globalThis.Date = (ms === 0 ? RealDate : ShiftedDate) as DateConstructor;
}

// For a separate process: `node --import` this file. SIGUSR2 corrects its clock.
if (process.env.CLOCK_SHIFT_MS !== undefined) {
  shiftClock(Number(process.env.CLOCK_SHIFT_MS));
  process.on("SIGUSR2", () => shiftClock(0));
}
