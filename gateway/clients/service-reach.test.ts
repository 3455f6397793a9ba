import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DomainError, unavailable } from "../../services/platform/domain/domain-error.ts";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import { ServiceReach } from "./service-reach.ts";

let reach: ServiceReach;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  vi.spyOn(performance, "now").mockImplementation(() => Date.now());
  reach = new ServiceReach(500);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A call that is answered when the test says so. */
function call() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const watched = reach.watch(promise);
  watched.catch(() => {});
  return { watched, answer: () => resolve("answer"), fail: (error: Error) => reject(error) };
}

describe("a service", () => {
  it("is in reach while nobody asks it anything", async () => {
    expect(reach.isOutOfReach).toBe(false);
    await pass(60_000);
    expect(reach.isOutOfReach).toBe(false);
  });

  it("is out of reach while it leaves calls waiting and is not heard of", async () => {
    const first = call();
    await pass(400);
    const second = call();
    await pass(99);
    expect(reach.isOutOfReach).toBe(false);
    await pass(1);
    expect(reach.isOutOfReach).toBe(true);
    second.answer();
    await pass(0);
    expect(reach.isOutOfReach).toBe(false);
    await pass(499);
    expect(reach.isOutOfReach).toBe(false);
    await pass(1);
    expect(reach.isOutOfReach).toBe(true);
    first.answer();
    await pass(0);
    expect(reach.isOutOfReach).toBe(false);
  });

  it("is out of reach after a call that failed, until it is heard of, or for five seconds", async () => {
    call().fail(unavailable("down"));
    await pass(4_999);
    expect(reach.isOutOfReach).toBe(true);
    await pass(1);
    expect(reach.isOutOfReach).toBe(false);
    call().fail(unavailable("down"));
    await pass(0);
    expect(reach.isOutOfReach).toBe(true);
    call().answer();
    await pass(0);
    expect(reach.isOutOfReach).toBe(false);
  });

  it("is in reach where it answers with an error", async () => {
    call().fail(new DomainError("not_found", { reason: "NONE", message: "None." }));
    await pass(0);
    expect(reach.isOutOfReach).toBe(false);
  });

  it("is waited for as long as it is in reach", async () => {
    const slow = call();
    let isOver = false;
    void reach.answeredOrOutOfReach(slow.watched, monotonicMs()).then(() => {
      isOver = true;
    });
    for (let n = 0; n < 10; n += 1) {
      await pass(400);
      call().answer();
      await pass(0);
    }
    expect(isOver).toBe(false);
    await pass(499);
    expect(isOver).toBe(false);
    await pass(1);
    expect(isOver).toBe(true);
  });

  it("is waited for no longer than that also where the question has not been put yet", async () => {
    let isOver = false;
    void reach.answeredOrOutOfReach(new Promise(() => {}), monotonicMs()).then(() => {
      isOver = true;
    });
    await pass(499);
    expect(isOver).toBe(false);
    await pass(1);
    expect(isOver).toBe(true);
  });
});
