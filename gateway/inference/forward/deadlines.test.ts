import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { nowhere } from "../../../services/platform/memory/transient-set.ts";
import { monotonicMs } from "../../../services/platform/time/clock.ts";
import { blockProcess } from "../../../test/support/block-process.ts";
import { type Deadlined, Deadlines } from "./deadlines.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Calls that record their names when they end and are then forgotten, like those of an upstream. */
function watchedCalls(deadlines: Deadlines, names: string, ended: string[], late = names): Map<string, Deadlined> {
  const calls = [...names].map((name): [string, Deadlined] => {
    const end = (): void => {
      ended.push(name);
      deadlines.forget(call);
    };
    const call = { place: nowhere, isLate: () => late.includes(name), onDeadline: end, onStop: end };
    return [name, call];
  });
  for (const [, call] of calls) deadlines.watch(call);
  return new Map(calls);
}

it("ends all late calls once, and no others", () => {
  const deadlines = new Deadlines();
  const ended: string[] = [];
  watchedCalls(deadlines, "abcdef", ended, "adf");
  vi.advanceTimersByTime(300);
  expect(ended.sort()).toEqual(["a", "d", "f"]);
});

it.each(["a", "c", "f", "af", "fa", "abc", "cdf", "fedcba"])(
  "checks the remaining calls after %s were forgotten",
  (gone) => {
    const deadlines = new Deadlines();
    const ended: string[] = [];
    const calls = watchedCalls(deadlines, "abcdef", ended);
    for (const name of gone) deadlines.forget(calls.get(name) as Deadlined);
    vi.advanceTimersByTime(300);
    expect(ended.sort()).toEqual([..."abcdef"].filter((name) => !gone.includes(name)));
  },
);

it("does not notify a call that was ended by another", () => {
  const deadlines = new Deadlines();
  const ended: string[] = [];
  const calls = watchedCalls(deadlines, "abcd", ended, "");
  const last: Deadlined = {
    place: nowhere,
    isLate: () => true,
    onDeadline: () => {
      for (const call of [last, calls.get("a"), calls.get("c")]) deadlines.forget(call as Deadlined);
    },
    onStop: () => {},
  };
  deadlines.watch(last);
  vi.advanceTimersByTime(300);
  deadlines.stop();
  expect(ended.sort()).toEqual(["b", "d"]);
});

it("ends all calls at shutdown, and runs what was delayed at once", () => {
  const deadlines = new Deadlines();
  const ended: string[] = [];
  watchedCalls(deadlines, "abc", ended, "");
  deadlines.after(60_000, () => ended.push("waiting"));
  deadlines.after(60_000, () => ended.push("taken back"))();
  deadlines.stop();
  expect(ended.sort()).toEqual(["a", "b", "c", "waiting"]);
});

it("does not end a call whose upstream answered while the process was blocked", async () => {
  vi.useRealTimers();
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [[upstream]] = await Promise.all([once(server, "connection"), once(client, "connect")]);

  const deadlines = new Deadlines();
  const ended: string[] = [];
  let untilMs = monotonicMs() + 300;
  client.on("data", () => {
    untilMs = Number.POSITIVE_INFINITY;
  });
  const end = () => ended.push("ended");
  deadlines.watch({ place: nowhere, isLate: (nowMs) => untilMs < nowMs, onDeadline: end, onStop: () => {} });
  upstream.write("x");
  blockProcess(600);
  await sleep(300);
  expect(ended).toEqual([]);
  upstream.destroy();
  server.close();
});
