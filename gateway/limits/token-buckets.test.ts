import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TokenBuckets } from "./token-buckets.ts";

const limit = { perSecond: 2, burst: 4 };
let buckets: TokenBuckets;

beforeEach(() => {
  vi.useFakeTimers();
  buckets = new TokenBuckets(3);
});

afterEach(() => {
  vi.useRealTimers();
});

/** How many of this many attempts are admitted. */
function takeOf(tries: number, name = "a", ofLimit = limit): number {
  return Array.from({ length: tries }, () => buckets.take(name, ofLimit)).filter(Boolean).length;
}

describe("TokenBuckets", () => {
  it("admits a burst, and then requests at the rate", () => {
    expect(takeOf(10)).toBe(4);
    vi.advanceTimersByTime(499);
    expect(takeOf(1)).toBe(0);
    vi.advanceTimersByTime(501);
    expect(takeOf(10)).toBe(2);
    vi.advanceTimersByTime(60_000);
    expect(takeOf(10)).toBe(4);
  });

  it("admits no more than burst and rate over a minute, however often it is asked", () => {
    let taken = 0;
    for (let ms = 0; ms < 60_000; ms += 7) {
      taken += takeOf(3);
      vi.advanceTimersByTime(7);
    }
    expect(taken).toBeGreaterThanOrEqual(119);
    expect(taken).toBeLessThanOrEqual(4 + 120);
  });

  it("is not affected by changes of the wall clock", () => {
    takeOf(4);
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(takeOf(1)).toBe(0);
    vi.advanceTimersByTime(1_000);
    vi.setSystemTime(Date.now() - 7_200_000);
    expect(takeOf(10)).toBe(2);
  });

  it("counts each name separately", () => {
    takeOf(4, "a");
    expect(takeOf(10, "b")).toBe(4);
    expect(takeOf(1, "a")).toBe(0);
  });

  it("returns what is left and when there is more", () => {
    expect(buckets.allowance("a", limit)).toEqual({ limit: 4, remaining: 4, nextInSeconds: 0, fullInSeconds: 0 });
    takeOf(4);
    expect(buckets.allowance("a", limit)).toEqual({ limit: 4, remaining: 0, nextInSeconds: 1, fullInSeconds: 2 });
    vi.advanceTimersByTime(1_250);
    expect(buckets.allowance("a", limit)).toEqual({ limit: 4, remaining: 2, nextInSeconds: 0, fullInSeconds: 1 });
  });

  it("follows a changed limit", () => {
    takeOf(1);
    expect(takeOf(10, "a", { perSecond: 1, burst: 2 })).toBe(2);
    vi.advanceTimersByTime(1_000);
    expect(takeOf(10, "a", { perSecond: 8, burst: 8 })).toBe(8);
  });

  it("evicts the longest unused first, so that active ones are not reset", () => {
    takeOf(4, "busy");
    for (let n = 0; n < 50; n += 1) {
      takeOf(1, `other-${n}`);
      expect(takeOf(1, "busy")).toBe(0);
    }
  });
});
