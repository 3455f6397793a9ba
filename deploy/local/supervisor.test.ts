import { describe, expect, it } from "vitest";
import type { BackgroundProcess, Exit } from "./background-process.ts";
import { FailedStart } from "./start-error.ts";
import { supervise } from "./supervisor.ts";

/** A process that ends when the test says so. */
function fakeProcess() {
  const { promise: exited, resolve: end } = Promise.withResolvers<Exit>();
  const stop = async (): Promise<void> => end({ reason: "exit code 0", killed: false, isPermanent: false });
  return { process: { pid: 1, exited, stop } satisfies BackgroundProcess, end };
}

function kill(fake: ReturnType<typeof fakeProcess>): void {
  fake.end({ reason: "ended by SIGKILL", killed: true, isPermanent: false });
}

/** Supervises fake processes, and records what is reported. A start fails if `failsAt` says so. */
function superviseFakes(failsAt: (attempt: number) => boolean = () => false, isPermanent = false) {
  const started: ReturnType<typeof fakeProcess>[] = [];
  const deaths: string[] = [];
  const failures: string[] = [];
  let recoveries = 0;
  const outer = new AbortController();
  let attempts = 0;
  const supervised = supervise({
    start: async () => {
      attempts += 1;
      const reason = `attempt ${attempts} failed`;
      if (failsAt(attempts)) throw new FailedStart(reason, reason, isPermanent);
      const fake = fakeProcess();
      started.push(fake);
      return fake.process;
    },
    onDeath: ({ reason }) => deaths.push(reason),
    onFailedStart: (error) => failures.push((error as FailedStart).reason),
    onRecovery: () => {
      recoveries += 1;
    },
    signal: outer.signal,
  });
  const nth = async (count: number): Promise<ReturnType<typeof fakeProcess>> => {
    await expect.poll(() => started.length, { interval: 5 }).toBe(count);
    return started.at(-1) ?? fakeProcess();
  };
  return { supervised, started, deaths, failures, outer, nth, attempts: () => attempts, recoveries: () => recoveries };
}

describe("supervise", () => {
  it("restarts a process that has died", async () => {
    const { supervised, nth, deaths } = superviseFakes();
    kill(await nth(1));
    kill(await nth(2));
    await nth(3);
    expect(deaths).toEqual(["ended by SIGKILL", "ended by SIGKILL"]);
    await supervised.stop();
  });

  it("never gives up on a process that comes up each time, however often it is killed", async () => {
    const { supervised, nth, deaths } = superviseFakes();
    for (let count = 1; count <= 5; count += 1) kill(await nth(count));
    await nth(6);
    expect(deaths).toHaveLength(5);
    await supervised.stop();
  });

  it("keeps trying a process that does not come up, until it does", async () => {
    const { supervised, nth, failures } = superviseFakes((attempt) => attempt < 7);
    await nth(1);
    await supervised.up;
    expect(failures).toEqual([1, 2, 3, 4, 5, 6].map((attempt) => `attempt ${attempt} failed`));
    await supervised.stop();
  });

  it("pauses longer after each failed start", async () => {
    const { supervised, attempts } = superviseFakes(() => true);
    // At once, then after 100, 200, 400 and 800 ms.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(attempts()).toBeLessThanOrEqual(5);
    await expect.poll(attempts).toBeGreaterThan(5);
    await supervised.stop();
  });

  it("gives up at once on a process that never was up and cannot start, with the reason", async () => {
    const { supervised, attempts, failures } = superviseFakes(() => true, true);
    await expect(supervised.up).rejects.toThrow("attempt 1 failed");
    await supervised.stop();
    expect({ attempts: attempts(), failures }).toEqual({ attempts: 1, failures: [] });
  });

  it("does not give up on a process that was up, whatever prevents its restart", async () => {
    const { supervised, nth, failures } = superviseFakes((attempt) => attempt === 2 || attempt === 3, true);
    kill(await nth(1));
    await nth(2);
    expect(failures).toEqual(["attempt 2 failed", "attempt 3 failed"]);
    await supervised.stop();
  });

  it("reports recovery once, after the process has stayed up", async () => {
    const { supervised, nth, recoveries } = superviseFakes((attempt) => attempt === 2);
    kill(await nth(1));
    await nth(2);
    expect(recoveries()).toBe(0);
    await expect.poll(recoveries).toBe(1);
    await supervised.stop();
  });

  it("ends at once during a pause, and tells those waiting", async () => {
    const { supervised, outer, attempts } = superviseFakes(() => true);
    await expect.poll(attempts).toBe(6);
    outer.abort("Ctrl-C");
    await supervised.stop();
    await expect(supervised.up).rejects.toBe("Ctrl-C");
    expect(attempts()).toBe(6);
  });

  it("stops the process and leaves it stopped", async () => {
    const { supervised, started, deaths, nth } = superviseFakes();
    await nth(1);
    await supervised.stop();
    expect(started).toHaveLength(1);
    expect(deaths).toEqual([]);
  });

  it("starts nothing more during shutdown", async () => {
    const { supervised, started, deaths, outer, nth } = superviseFakes();
    const first = await nth(1);
    outer.abort();
    kill(first);
    await supervised.stop();
    expect(started).toHaveLength(1);
    expect(deaths).toEqual([]);
  });
});
