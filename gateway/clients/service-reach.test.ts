import { beforeEach, describe, expect, it } from "vitest";
import { DomainError, unavailable } from "../../services/platform/domain/domain-error.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { pass, stopTime } from "../../test/support/fake-time.ts";
import { ServiceReach } from "./service-reach.ts";

let reach: ServiceReach;

stopTime();

beforeEach(() => {
  reach = new ServiceReach(500);
});

/** A call that is answered when the test says so. */
function call() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const watched = reach.watch(promise);
  watched.catch(() => {});
  return { watched, answer: () => resolve("answer"), fail: (error: Error) => reject(error) };
}

describe("a service", () => {
  it("is reachable while nobody calls it", async () => {
    expect(reach.isOutOfReach).toBe(false);
    await pass(60_000);
    expect(reach.isOutOfReach).toBe(false);
  });

  it("is unreachable while calls wait and nothing is heard from it", async () => {
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

  it("is unreachable after a failed call, until heard from or for five seconds", async () => {
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

  it("is reachable if it answers with an error", async () => {
    call().fail(new DomainError("not_found", { reason: "NONE", message: "None." }));
    await pass(0);
    expect(reach.isOutOfReach).toBe(false);
    call().fail(unavailable("down"));
    await pass(0);
    expect(reach.isOutOfReach).toBe(true);
    call().fail(new DomainError("not_found", { reason: "NONE", message: "None." }));
    await pass(0);
    expect(reach.isOutOfReach).toBe(false);
  });

  it("is waited for while it is reachable", async () => {
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

  it("is waited for no longer than that even if the call was not sent yet", async () => {
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
