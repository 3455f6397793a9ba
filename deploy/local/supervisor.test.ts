import { describe, expect, it } from "vitest";
import type { BackgroundProcess, Exit } from "./background-process.ts";
import { supervise } from "./supervisor.ts";

/** A process that ends when the test says so. */
function fakeProcess() {
  const { promise: exited, resolve: end } = Promise.withResolvers<Exit>();
  const stop = async (): Promise<void> => end({ reason: "exit code 0", killed: false });
  return { process: { pid: 1, exited, stop } satisfies BackgroundProcess, end };
}

function kill(fake: ReturnType<typeof fakeProcess>): void {
  fake.end({ reason: "ended by SIGKILL", killed: true });
}

/** Supervises fake processes, and keeps what it was told. A start fails where `failsAt` says so. */
function superviseFakes(failsAt: (attempt: number) => boolean = () => false) {
  const started: ReturnType<typeof fakeProcess>[] = [];
  const deaths: string[] = [];
  const outer = new AbortController();
  const { promise: gaveUp, resolve: onGiveUp } = Promise.withResolvers<unknown>();
  let attempts = 0;
  const supervised = supervise({
    start: async () => {
      attempts += 1;
      if (failsAt(attempts)) throw new Error(`attempt ${attempts} failed`);
      const fake = fakeProcess();
      started.push(fake);
      return fake.process;
    },
    onDeath: ({ reason }) => deaths.push(reason),
    onGiveUp,
    signal: outer.signal,
  });
  const nth = async (count: number): Promise<ReturnType<typeof fakeProcess>> => {
    await expect.poll(() => started.length, { interval: 5, timeout: 10_000 }).toBe(count);
    return started.at(-1) ?? fakeProcess();
  };
  return { supervised, started, deaths, outer, gaveUp, nth, attempts: () => attempts };
}

describe("supervise", () => {
  it("starts a process again that has died", async () => {
    const { supervised, nth, deaths } = superviseFakes();
    kill(await nth(1));
    kill(await nth(2));
    await nth(3);
    expect(deaths).toEqual(["ended by SIGKILL", "ended by SIGKILL"]);
    await supervised.stop();
  });

  it("does not give up on a process that comes up each time, however often it is killed", async () => {
    const { supervised, nth, deaths } = superviseFakes();
    for (let count = 1; count <= 5; count += 1) kill(await nth(count));
    await nth(6);
    expect(deaths).toHaveLength(5);
    await supervised.stop();
  });

  it("gives up after five starts in a row that failed, with the last reason", async () => {
    const { supervised, gaveUp, attempts } = superviseFakes(() => true);
    await expect(supervised.up).rejects.toThrow("attempt 5 failed");
    expect(await gaveUp).toEqual(new Error("attempt 5 failed"));
    expect(attempts()).toBe(5);
  });

  it("counts failed starts anew once the process was up", async () => {
    const { supervised, nth, attempts } = superviseFakes((attempt) => attempt < 4 || (attempt > 4 && attempt < 7));
    kill(await nth(1));
    await nth(2);
    expect(attempts()).toBe(7);
    await supervised.stop();
  });

  it("stops the process and leaves it stopped", async () => {
    const { supervised, started, deaths, nth } = superviseFakes();
    await nth(1);
    await supervised.stop();
    expect(started).toHaveLength(1);
    expect(deaths).toEqual([]);
  });

  it("starts nothing any more once the whole is being stopped", async () => {
    const { supervised, started, deaths, outer, nth } = superviseFakes();
    const first = await nth(1);
    outer.abort();
    kill(first);
    await supervised.stop();
    expect(started).toHaveLength(1);
    expect(deaths).toEqual([]);
  });
});
