import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { silentLogger } from "../../platform/observe/logger.ts";
import { LastUseRecorder } from "./last-use-recorder.ts";

const minuteMs = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  // The clock of the cache.
  vi.spyOn(performance, "now").mockImplementation(() => Date.now());
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it("records a key that is in use once a minute, and asks to skip what was recorded within the last", async () => {
  const startMs = Date.now();
  const recorded: [names: readonly string[], usedAfterMs: number, exceptSinceMs: number][] = [];
  const update = async (names: readonly string[], usedAt: Date, exceptSince: Date) => {
    recorded.push([names, usedAt.getTime() - startMs, exceptSince.getTime() - startMs]);
  };
  const recorder = new LastUseRecorder("keys", update, silentLogger());
  for (let second = 0; second <= 150; second += 25) {
    vi.setSystemTime(startMs + second * 1000);
    // The cache looks at its clock at most once a millisecond, so it gets a real one.
    await sleep(2);
    recorder.record("key", new Date());
  }
  await sleep(2);
  expect(recorded).toEqual([
    [["key"], 0, -minuteMs],
    [["key"], 75_000, 75_000 - minuteMs],
    [["key"], 150_000, 150_000 - minuteMs],
  ]);
});

it("records what was used at the same time in one order, in which no two processes deadlock", async () => {
  const update = vi.fn(async () => {});
  const recorder = new LastUseRecorder("keys", update, silentLogger());
  for (const name of ["b", "c", "a"]) recorder.record(name, new Date());
  await vi.waitFor(() => expect(update).toHaveBeenCalled());
  expect(update.mock.calls).toEqual([[["a", "b", "c"], expect.any(Date), expect.any(Date)]]);
});

it("names in the log what it could not record", async () => {
  const logger = silentLogger();
  const warn = vi.spyOn(logger, "warn");
  const recorder = new LastUseRecorder("sessions", () => Promise.reject(new Error("gone")), logger);
  recorder.record("session", new Date());
  await vi.waitFor(() => expect(warn).toHaveBeenCalled());
  expect(warn.mock.calls[0]?.[1]).toBe("could not record the last use of sessions");
});
