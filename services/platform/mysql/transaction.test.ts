import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { deadlineExceeded } from "../domain/domain-error.ts";
import { monotonicMs } from "../time/clock.ts";
import { CommitUnknown, ConnectionError } from "./errors.ts";
import { databaseUnavailable, outcomeUnknown } from "./refusals.ts";
import { retryTransient } from "./transaction.ts";

const lockTimeout = Object.assign(new Error("lock wait timeout"), { errno: 1205 });
const deadlock = Object.assign(new Error("deadlock"), { errno: 1213 });

describe("retryTransient", () => {
  it("retries transient errors", async () => {
    let attempts = 0;
    const result = await retryTransient(monotonicMs() + 5_000, async () => {
      attempts += 1;
      if (attempts < 3) throw deadlock;
      return "done";
    });
    expect([result, attempts]).toEqual(["done", 3]);
  });

  it("does not retry permanent errors", async () => {
    let attempts = 0;
    const failure = new Error("for good");
    const work = retryTransient(monotonicMs() + 5_000, async () => {
      attempts += 1;
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    expect(attempts).toBe(1);
  });

  it("does not wait for a lock again if the caller would not wait as long", async () => {
    let attempts = 0;
    const work = retryTransient(monotonicMs() + 1_350, async () => {
      attempts += 1;
      await sleep(400);
      throw lockTimeout;
    });
    await expect(work).rejects.toMatchObject({ kind: "aborted", cause: lockTimeout });
    expect(attempts).toBe(2);
  });

  it("gives up a database that was out of reach for three seconds", async () => {
    const lost = new ConnectionError("lost");
    let attempts = 0;
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const work = retryTransient(monotonicMs() + 10_000, () => {
        attempts += 1;
        vi.advanceTimersByTime(3_000);
        return Promise.reject(lost);
      });
      await expect(work).rejects.toEqual(databaseUnavailable(lost));
    } finally {
      vi.useRealTimers();
    }
    expect(attempts).toBe(1);
  });

  it("gives up at the caller's deadline, with the cause", async () => {
    await expect(retryTransient(monotonicMs() + 100, () => Promise.reject(deadlock))).rejects.toMatchObject({
      kind: "aborted",
      cause: deadlock,
    });
  });
});

describe("a commit without an answer", () => {
  const unknown = new CommitUnknown(new Error("lost"));

  it("is not reported as late, which would mean that nothing was stored", async () => {
    const failures = [unknown, deadlineExceeded()];
    const work = retryTransient(monotonicMs() + 10_000, () => Promise.reject(failures.shift()));
    await expect(work).rejects.toEqual(outcomeUnknown(unknown));
  });

  it("is reported as such if there is no time to look", async () => {
    const work = retryTransient(monotonicMs(), () => Promise.reject(unknown));
    await expect(work).rejects.toEqual(outcomeUnknown(unknown));
  });
});
