import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { heapBytes } from "../../../test/support/garbage.ts";
import { monotonicMs } from "../time/clock.ts";
import type { BatchCaller, BatchPart } from "./batch-part.ts";
import { Batcher, type BatchPolicy } from "./batcher.ts";

type TestPart = BatchPart<string, string>;

interface Begun {
  readonly requests: readonly string[];
  readonly parts: readonly TestPart[];
  answer(): void;
  fail(error: Error): void;
}

const unbounded: BatchPolicy<string> = {
  countMax: 64,
  bytesMax: 1_000,
  batchesMax: 1,
  waitingMax: 1_000,
  waitingBytesMax: 100_000,
  bytesOf: () => 1,
  expiresRunning: true,
};

/** A batcher whose batches are answered on request. */
function slowBatcher(policy: Partial<BatchPolicy<string>> = {}) {
  const batches: Begun[] = [];
  const batcher = new Batcher<string, string>(
    { ...unbounded, ...policy },
    (parts) =>
      new Promise((resolve, reject) => {
        const answer = () => {
          for (const part of parts) part.settle(`${part.request}!`);
          resolve();
        };
        batches.push({ requests: parts.map(({ request }) => request), parts, answer, fail: reject });
      }),
  );
  const ask = (request: string, caller: Partial<BatchCaller> = {}) =>
    batcher.submit(request, { deadlineMs: monotonicMs() + 10_000, isCanceled: () => false, ...caller });
  const begun = async (count: number) => {
    await expect.poll(() => batches.length).toBe(count);
    return batches[count - 1] as Begun;
  };
  return { ask, batches, begun };
}

const turn = () => new Promise(setImmediate);

/** From now on, time passes only when the test says so. */
const holdClock = () => vi.useFakeTimers({ toFake: ["performance"] });

afterEach(() => {
  vi.useRealTimers();
});

describe("Batcher", () => {
  it("reports how many requests are sent together and how many wait", async () => {
    const sent: number[] = [];
    let readWaiting = () => -1;
    const observer = {
      opened: (read: () => number) => {
        readWaiting = read;
      },
      sent: (count: number) => sent.push(count),
    };
    const { ask, begun } = slowBatcher({ observer, countMax: 2 });
    const answers = [ask("a"), ask("b"), ask("c")];
    expect(readWaiting()).toBe(1);
    (await begun(1)).answer();
    (await begun(2)).answer();
    await Promise.all(answers);
    expect([sent, readWaiting()]).toEqual([[2, 1], 0]);
  });

  it("sends a single request without waiting for an event loop turn", async () => {
    const { ask, batches } = slowBatcher();
    const answer = ask("a");
    await Promise.resolve();
    expect(batches).toHaveLength(1);
    batches[0]?.answer();
    expect(await answer).toBe("a!");
  });

  it("sends a full batch at once, and then what came after it", async () => {
    const { ask, batches, begun } = slowBatcher({ countMax: 3, batchesMax: 3 });
    const answers = [ask("lone")];
    await begun(1);
    answers.push(ask("a"), ask("b"), ask("c"));
    expect(batches.map(({ requests }) => requests)).toEqual([["lone"], ["a", "b", "c"]]);
    answers.push(ask("d"));
    await turn();
    answers.push(ask("e"));
    expect((await begun(3)).requests).toEqual(["d", "e"]);
    for (const { answer } of batches) answer();
    await Promise.all(answers);
  });

  it("does not wait forever for the end of identical requests that arrive turn after turn", async () => {
    const { ask, batches, begun } = slowBatcher({ countMax: 4, batchesMax: 2, keyOf: (request) => request });
    const answers = [ask("other")];
    await begun(1);
    for (let count = 0; batches.length < 2; count += 1) {
      expect(count).toBeLessThan(100);
      answers.push(ask("same"));
      await turn();
    }
    for (const { answer } of batches) answer();
    expect(await Promise.all(answers)).toContain("same!");
  });

  it("sends simultaneous requests as one batch", async () => {
    const { ask, batches, begun } = slowBatcher({ batchesMax: 2 });
    const answers = ["a", "b", "c"].map((request) => ask(request));
    const batch = await begun(1);
    expect(batch.requests).toEqual(["a", "b", "c"]);
    batch.answer();
    expect(await Promise.all(answers)).toEqual(["a!", "b!", "c!"]);
    expect(batches).toHaveLength(1);
  });

  it("collects requests while a batch runs, until a turn brings no more", async () => {
    const { ask, batches, begun } = slowBatcher({ batchesMax: 2 });
    const answers = [ask("lone")];
    await begun(1);
    answers.push(ask("a"));
    await Promise.resolve();
    answers.push(ask("b"));
    await turn();
    answers.push(ask("c"));
    expect((await begun(2)).requests).toEqual(["a", "b", "c"]);
    for (const { answer } of batches) answer();
    expect(await Promise.all(answers)).toEqual(["lone!", "a!", "b!", "c!"]);
  });

  it("sends single requests one by one again after a burst", async () => {
    const { ask, begun, batches } = slowBatcher();
    const crowd = ["a", "b"].map((request) => ask(request));
    (await begun(1)).answer();
    await Promise.all(crowd);
    const first = ask("after");
    (await begun(2)).answer();
    await first;
    const second = ask("lone");
    await Promise.resolve();
    expect(batches).toHaveLength(3);
    batches[2]?.answer();
    await second;
  });

  it("waits while the maximum number of batches runs, and never exceeds the batch size", async () => {
    const { ask, begun } = slowBatcher({ countMax: 2 });
    const answers = [ask("a")];
    const first = await begun(1);
    answers.push(...["b", "c", "d"].map((request) => ask(request)));
    await turn();
    first.answer();
    const second = await begun(2);
    expect(second.requests).toEqual(["b", "c"]);
    second.answer();
    const third = await begun(3);
    expect(third.requests).toEqual(["d"]);
    third.answer();
    expect(await Promise.all(answers)).toEqual(["a!", "b!", "c!", "d!"]);
  });

  it("bounds a batch in bytes, sends larger requests alone and keeps the order", async () => {
    const { ask, batches } = slowBatcher({ bytesMax: 10, bytesOf: (request) => request.length, batchesMax: 10 });
    const answers = ["aaaa", "bbbb", "c".repeat(50), "dd", "ee", "ffffff"].map((request) => ask(request));
    await turn();
    expect(batches.map(({ requests }) => requests.map(([letter]) => letter))).toEqual([
      ["a", "b"],
      ["c"],
      ["d", "e", "f"],
    ]);
    for (const { answer } of batches) answer();
    await Promise.all(answers);
  });

  it("rejects requests while too many wait, and accepts more afterwards", async () => {
    const { ask, begun } = slowBatcher({ waitingMax: 2 });
    const running = ask("running");
    const first = await begun(1);
    const waiting = [ask("a"), ask("b")];
    await expect(ask("c")).rejects.toMatchObject({ kind: "unavailable" });
    first.answer();
    (await begun(2)).answer();
    await Promise.all([running, ...waiting]);
    const later = ask("later");
    (await begun(3)).answer();
    expect(await later).toBe("later!");
  });

  it("rejects requests while too many bytes wait, but never a single large one", async () => {
    const { ask, begun } = slowBatcher({ waitingBytesMax: 100, bytesOf: (request) => request.length });
    const running = ask("r".repeat(500));
    const first = await begun(1);
    const waiting = ask("w".repeat(200));
    await expect(ask("one more")).rejects.toMatchObject({ kind: "unavailable" });
    first.answer();
    (await begun(2)).answer();
    await Promise.all([running, waiting]);
  });

  describe("with identical requests", () => {
    const keyOf = (request: string) => request[0] as string;

    it("sends one, and keeps all callers", async () => {
      const { ask, begun } = slowBatcher({ keyOf });
      const answers = ["a1", "b1", "a2"].map((request) => ask(request));
      const batch = await begun(1);
      expect(batch.requests).toEqual(["a1", "b1"]);
      expect(batch.parts[0]?.requests).toEqual(["a1", "a2"]);
      batch.answer();
      expect(await Promise.all(answers)).toEqual(["a1!", "b1!", "a1!"]);
    });

    it("waits after a burst for a turn that brings no more of them", async () => {
      const { ask, batches, begun } = slowBatcher({ keyOf, batchesMax: 2 });
      const crowd = ["a1", "a2", "a3"].map((request) => ask(request));
      (await begun(1)).answer();
      await Promise.all(crowd);
      const answers = [ask("a4")];
      await Promise.resolve();
      expect(batches).toHaveLength(1);
      answers.push(ask("a5"));
      await turn();
      answers.push(ask("a6"));
      const second = await begun(2);
      expect(second.parts[0]?.requests).toEqual(["a4", "a5", "a6"]);
      second.answer();
      expect(await Promise.all(answers)).toEqual(["a4!", "a4!", "a4!"]);
    });

    it("never joins a batch that has started", async () => {
      const { ask, begun } = slowBatcher({ keyOf });
      const early = ask("a1");
      const first = await begun(1);
      const late = ask("a2");
      first.answer();
      expect(await early).toBe("a1!");
      (await begun(2)).answer();
      expect(await late).toBe("a2!");
    });

    it("gives each caller their own deadline, and the batch the latest", async () => {
      const { ask, begun } = slowBatcher({ keyOf });
      const lateMs = monotonicMs() + 10_000;
      const hasty = ask("a1", { deadlineMs: monotonicMs() + 500 });
      const patient = ask("a2", { deadlineMs: lateMs });
      const batch = await begun(1);
      expect(batch.parts[0]?.deadlineMs).toBe(lateMs);
      await expect(hasty).rejects.toMatchObject({ kind: "deadline_exceeded" });
      batch.answer();
      expect(await patient).toBe("a1!");
    });

    it("works on as long as one of the callers waits, whichever came first", async () => {
      const { ask, begun } = slowBatcher({ keyOf });
      const lateMs = monotonicMs() + 10_000;
      const gone = { first: false, second: false };
      const answers = [
        ask("a1", { deadlineMs: lateMs, isCanceled: () => gone.first }),
        ask("a2", { deadlineMs: lateMs - 5_000, isCanceled: () => gone.second }),
      ];
      const batch = await begun(1);
      expect(batch.parts[0]?.deadlineMs).toBe(lateMs);
      gone.first = true;
      expect(batch.parts[0]?.isCanceled()).toBe(false);
      gone.second = true;
      expect(batch.parts[0]?.isCanceled()).toBe(true);
      batch.answer();
      await Promise.all(answers);
    });

    it("does not count them as a full batch", async () => {
      const { ask, batches, begun } = slowBatcher({ keyOf, countMax: 3, batchesMax: 3 });
      const answers = [ask("b")];
      await begun(1);
      answers.push(...["a1", "a2", "a3", "a4", "a5"].map((request) => ask(request)));
      expect((await begun(2)).parts.map(({ requests }) => requests)).toEqual([["a1", "a2", "a3", "a4", "a5"]]);
      for (const { answer } of batches) answer();
      await Promise.all(answers);
      expect(batches).toHaveLength(2);
    });
  });

  describe("with lanes", () => {
    const laneOf = (request: string) => request[0] as string;

    it("keeps their order and never has one in two batches", async () => {
      const { ask, batches, begun } = slowBatcher({ laneOf, countMax: 2, batchesMax: 2 });
      const answers = ["a1", "a2", "a3", "b1"].map((request) => ask(request));
      const second = await begun(2);
      expect(batches.map(({ requests }) => requests)).toEqual([["a1", "a2"], ["b1"]]);
      second.answer();
      await turn();
      expect(batches).toHaveLength(2);
      batches[0]?.answer();
      const third = await begun(3);
      expect(third.requests).toEqual(["a3"]);
      third.answer();
      await Promise.all(answers);
    });

    it("bounds a batch in bytes, and lets nothing smaller overtake", async () => {
      const bytesOf = (request: string) => request.length;
      const { ask, batches, begun } = slowBatcher({ laneOf, bytesMax: 10, bytesOf });
      const answers = ["aaaa", "bbbb", "cccccc", "dd"].map((request) => ask(request));
      for (const count of [1, 2]) (await begun(count)).answer();
      await Promise.all(answers);
      expect(batches.map(({ requests }) => requests)).toEqual([
        ["aaaa", "bbbb"],
        ["cccccc", "dd"],
      ]);
    });

    it("serves one again that was empty", async () => {
      const { ask, begun } = slowBatcher({ laneOf });
      for (const count of [1, 2]) {
        const answer = ask("a");
        (await begun(count)).answer();
        expect(await answer).toBe("a!");
      }
    });

    it("keeps one busy until its batch has ended, even if all that waited in it expired", async () => {
      const { ask, batches, begun } = slowBatcher({ laneOf, batchesMax: 2 });
      const answers = [ask("a1")];
      const running = await begun(1);
      await expect(ask("a2", { deadlineMs: monotonicMs() + 20 })).rejects.toMatchObject({ kind: "deadline_exceeded" });
      answers.push(ask("a3"), ask("b1"));
      expect((await begun(2)).requests).toEqual(["b1"]);
      running.answer();
      expect((await begun(3)).requests).toEqual(["a3"]);
      for (const { answer } of batches) answer();
      await Promise.all(answers);
    });

    it("forgets those whose requests have expired", async () => {
      const { ask, batches, begun } = slowBatcher({ laneOf: (request) => request, waitingMax: 10_000 });
      const running = ask("a");
      await begun(1);
      const before = heapBytes();
      const deadlineMs = monotonicMs() + 20;
      const hasty = Array.from({ length: 2_000 }, () => ask(randomBytes(5_000).toString("hex"), { deadlineMs }));
      await Promise.allSettled(hasty.splice(0));
      await turn();
      expect(heapBytes() - before).toBeLessThan(10_000_000);
      batches[0]?.answer();
      await running;
    });

    it("does not let a burst in one lane delay the others", async () => {
      const { ask, batches, begun } = slowBatcher({ laneOf, countMax: 2 });
      const answers = ["a1", "a2", "a3", "a4", "b1"].map((request) => ask(request));
      for (const count of [1, 2, 3]) (await begun(count)).answer();
      await Promise.all(answers);
      expect(batches.map(({ requests }) => requests)).toEqual([["a1", "a2"], ["b1", "a3"], ["a4"]]);
    });

    it("serves fresher requests before those past half of their time", async () => {
      holdClock();
      const { ask, batches, begun } = slowBatcher({ laneOf, countMax: 2 });
      const first = ask("a0");
      const running = await begun(1);
      const hasty = ["a1", "b1"].map((request) => ask(request, { deadlineMs: monotonicMs() + 4_000 }));
      vi.advanceTimersByTime(2_100);
      const answers = [...hasty, ...["a2", "c1"].map((request) => ask(request))];
      running.answer();
      await first;
      for (const count of [2, 3]) (await begun(count)).answer();
      await Promise.all(answers);
      expect(batches.map(({ requests }) => requests)).toEqual([["a0"], ["c1", "a2"], ["b1", "a1"]]);
    });

    it("serves requests last that have less time left than a batch takes", async () => {
      holdClock();
      const { ask, batches, begun } = slowBatcher({ laneOf, countMax: 3 });
      const first = ask("a0");
      const running = await begun(1);
      vi.advanceTimersByTime(2_000);
      const inMs = (ms: number) => ({ deadlineMs: monotonicMs() + ms });
      const answers = [ask("b1", inMs(2_150)), ask("a1"), ask("c1", inMs(30_000)), ask("b2")];
      running.answer();
      await first;
      for (const count of [2, 3]) (await begun(count)).answer();
      await Promise.all(answers);
      expect(batches.map(({ requests }) => requests)).toEqual([["a0"], ["b2", "c1", "a1"], ["b1"]]);
    });

    it("compares by half of their time if all have less left than a batch takes", async () => {
      holdClock();
      const { ask, batches, begun } = slowBatcher({ laneOf, countMax: 3 });
      const first = ask("a0");
      const running = await begun(1);
      const waiting = ask("b1", { deadlineMs: monotonicMs() + 4_000 });
      vi.advanceTimersByTime(2_100);
      const answers = [waiting, ask("c1", { deadlineMs: monotonicMs() + 2_000 })];
      running.answer();
      await first;
      for (const count of [2, 3]) (await begun(count)).answer();
      await Promise.all(answers);
      expect(batches.map(({ requests }) => requests)).toEqual([["a0"], ["c1"], ["b1"]]);
    });
  });

  it("serves fresher requests first, unless an identical one is fresh", async () => {
    holdClock();
    const { ask, batches, begun } = slowBatcher({ keyOf: (request) => request, countMax: 2 });
    const first = ask("running");
    const running = await begun(1);
    const hasty = ["a", "b"].map((request) => ask(request, { deadlineMs: monotonicMs() + 4_000 }));
    vi.advanceTimersByTime(2_100);
    const answers = [...hasty, ...["c", "b", "d"].map((request) => ask(request))];
    running.answer();
    await first;
    for (const count of [2, 3]) (await begun(count)).answer();
    await Promise.all(answers);
    expect(batches.map(({ requests }) => requests)).toEqual([["running"], ["b", "c"], ["d", "a"]]);
  });

  it("serves fresher requests first, too, if few are queued that are large", async () => {
    holdClock();
    const { ask, batches, begun } = slowBatcher({ bytesMax: 10, bytesOf: (request) => request.length });
    const first = ask("running");
    const running = await begun(1);
    const hasty = ask("h".repeat(8), { deadlineMs: monotonicMs() + 4_000 });
    vi.advanceTimersByTime(2_100);
    const answers = [hasty, ask("f".repeat(8))];
    running.answer();
    await first;
    for (const count of [2, 3]) (await begun(count)).answer();
    await Promise.all(answers);
    expect(batches.map(({ requests }) => requests.map(([letter]) => letter))).toEqual([["r"], ["f"], ["h"]]);
  });

  it("batches only requests of one group", async () => {
    const { ask, batches } = slowBatcher({ groupOf: (request) => request[0] as string, batchesMax: 5 });
    const answers = ["a1", "b1", "a2"].map((request) => ask(request));
    await turn();
    expect(batches.map(({ requests }) => requests)).toEqual([["a1", "a2"], ["b1"]]);
    for (const { answer } of batches) answer();
    await Promise.all(answers);
  });

  it("rejects a waiting request at its deadline, and never starts it", async () => {
    const { ask, begun, batches } = slowBatcher({ keyOf: (request) => request });
    const running = ask("running");
    const first = await begun(1);
    await expect(ask("hasty", { deadlineMs: monotonicMs() + 20 })).rejects.toMatchObject({ kind: "deadline_exceeded" });
    first.answer();
    await running;
    const again = ask("hasty");
    const second = await begun(2);
    expect(second.requests).toEqual(["hasty"]);
    second.answer();
    expect(await again).toBe("hasty!");
    expect(batches).toHaveLength(2);
  });

  it.each([
    ["lanes", { laneOf: (request: string) => request[0] as string }],
    ["one queue", {}],
  ])("frees the places of expired requests in %s, and no more", async (_, lanes) => {
    const { ask, batches, begun } = slowBatcher({ ...lanes, waitingBytesMax: 3 });
    const answers = [ask("a1")];
    const running = await begun(1);
    const hasty = ["a2", "b1"].map((request) => ask(request, { deadlineMs: monotonicMs() + 20 }));
    answers.push(ask("a3"));
    await Promise.allSettled(hasty);
    answers.push(ask("b2"), ask("c1"));
    await expect(ask("c2")).rejects.toMatchObject({ kind: "unavailable" });
    running.answer();
    (await begun(2)).answer();
    await Promise.all(answers);
    expect(batches[1]?.requests.toSorted()).toEqual(["a3", "b2", "c1"]);
  });

  it("rejects a waiting write some time before its deadline", async () => {
    const { ask, begun } = slowBatcher({ expiresRunning: false });
    const running = ask("running");
    const batch = await begun(1);
    const deadlineMs = monotonicMs() + 500;
    await expect(ask("hasty", { deadlineMs })).rejects.toMatchObject({ kind: "deadline_exceeded" });
    expect(monotonicMs()).toBeLessThan(deadlineMs);
    batch.answer();
    await running;
  });

  it("lets a running write report its own outcome past the deadline", async () => {
    const { ask, begun } = slowBatcher({ expiresRunning: false });
    const answer = ask("a", { deadlineMs: monotonicMs() + 500 });
    const batch = await begun(1);
    await sleep(700);
    batch.answer();
    expect(await answer).toBe("a!");
  });

  it("fails only one batch, and continues with the next", async () => {
    const { ask, begun } = slowBatcher();
    const bad = ask("a");
    (await begun(1)).fail(new Error("no database"));
    await expect(bad).rejects.toThrow("no database");
    const good = ask("b");
    (await begun(2)).answer();
    expect(await good).toBe("b!");
  });

  it("fails a part that its batch did not answer", async () => {
    const batcher = new Batcher<string, string>(unbounded, async () => {});
    const caller = { deadlineMs: monotonicMs() + 30_000, isCanceled: () => false };
    await expect(batcher.submit("a", caller)).rejects.toThrow("did not say");
  });
});
