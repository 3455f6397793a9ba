import { describe, expect, it } from "vitest";
import { ByteBudget, smallBytes } from "./byte-budget.ts";

describe("ByteBudget", () => {
  it("grants all of its bytes and not one more", () => {
    const budget = new ByteBudget(10);
    expect(budget.reserve(11)).toBeUndefined();
    expect(budget.reserve(10)).toBeDefined();
    expect(budget.reserve(1)).toBeUndefined();
    expect(budget.used).toBe(10);
  });

  it("takes back a reservation once", () => {
    const budget = new ByteBudget(10);
    const kept = budget.reserve(3);
    const reservation = budget.reserve(4);
    expect(reservation?.grow(3)).toBe(true);
    expect(reservation?.bytes).toBe(7);
    reservation?.release();
    reservation?.release();
    expect(budget.used).toBe(3);
    kept?.release();
    expect(budget.used).toBe(0);
  });

  it("leaves a reservation unchanged if there is no room to grow", () => {
    const budget = new ByteBudget(10);
    const reservation = budget.reserve(6);
    expect(reservation?.grow(5)).toBe(false);
    expect(reservation?.bytes).toBe(6);
    expect(budget.used).toBe(6);
  });

  it("grants nothing to a released reservation", () => {
    const budget = new ByteBudget(10);
    const reservation = budget.reserve(1);
    reservation?.release();
    expect(reservation?.grow(1)).toBe(false);
    reservation?.overdraw(1);
    expect(budget.used).toBe(0);
  });

  it("rejects while it is overdrawn", () => {
    const budget = new ByteBudget(10);
    const reservation = budget.reserve(1);
    reservation?.overdraw(20);
    expect(budget.used).toBe(21);
    expect(budget.reserve(0)).toBeUndefined();
    reservation?.release();
    expect(budget.reserve(10)).toBeDefined();
  });

  it("counts a share's bytes in the whole as well", () => {
    const whole = new ByteBudget(10);
    const [one, other] = [new ByteBudget(6, { whole }), new ByteBudget(6, { whole })];
    const first = one.reserve(6);
    expect(one.reserve(1)).toBeUndefined();
    expect(other.reserve(5)).toBeUndefined();
    expect([one.fullFor(1), other.fullFor(5), other.fullFor(4)]).toEqual([one, whole, undefined]);
    expect([whole.used, other.used]).toEqual([6, 0]);
    const second = other.reserve(4);
    first?.release();
    second?.release();
    expect([whole.used, one.used, other.used]).toEqual([0, 0, 0]);
  });

  it("has spare bytes for small reservations only", () => {
    const whole = new ByteBudget(4 * smallBytes, { spareBytes: smallBytes });
    const share = new ByteBudget(2 * smallBytes, { whole, spareBytes: smallBytes });
    const large = share.reserve(2 * smallBytes);
    expect(share.reserve(smallBytes + 1)).toBeUndefined();
    const small = share.reserve(smallBytes - 1);
    expect(small?.grow(2)).toBe(false);
    expect(small?.grow(1)).toBe(true);
    expect(share.reserve(1)).toBeUndefined();
    expect(whole.reserve(2 * smallBytes + 1)).toBeUndefined();
    expect(whole.reserve(smallBytes)).toBeDefined();
    large?.release();
    small?.release();
    expect([whole.used, share.used]).toEqual([smallBytes, 0]);
  });

  it("has room for large reservations whatever small ones take of the spare bytes", () => {
    const budget = new ByteBudget(4 * smallBytes, { spareBytes: smallBytes });
    const large = budget.reserve(smallBytes + 1);
    const small = [budget.reserve(smallBytes / 2), budget.reserve(smallBytes / 2)];
    expect(large?.grow(3 * smallBytes)).toBe(false);
    expect(large?.grow(3 * smallBytes - 1)).toBe(true);
    expect(budget.reserve(1)).toBeUndefined();
    large?.shrinkTo(smallBytes);
    expect(budget.used).toBe(2 * smallBytes);
    expect(budget.reserve(3 * smallBytes + 1)).toBeUndefined();
    expect(large?.grow(3 * smallBytes)).toBe(true);
    for (const each of [large, ...small]) each?.release();
    expect(budget.used).toBe(0);
    expect(budget.reserve(4 * smallBytes + 1)).toBeUndefined();
  });
});
