import { afterEach, beforeEach, vi } from "vitest";
import { afterArrivals } from "../../services/platform/time/next-turn.ts";

/** Makes time stand still in each test of a file, except where the test lets it pass. */
export function stopTime(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
    vi.spyOn(performance, "now").mockImplementation(() => Date.now());
  });

  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
}

/** What is due by then has happened, including what waits for arrivals. */
export async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await new Promise<void>(afterArrivals);
  await vi.advanceTimersByTimeAsync(0);
}
