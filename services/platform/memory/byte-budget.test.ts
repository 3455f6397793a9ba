import { describe, expect, it } from "vitest";
import { ByteBudget, Reservation, smallBytes } from "./byte-budget.ts";

/** Undefined if there is no room. */
function reserve(budget: ByteBudget, bytes: number): Reservation | undefined {
  const reservation = new Reservation(budget);
  return reservation.grow(bytes) ? reservation : undefined;
}

describe("ByteBudget", () => {
  it("grants all of its bytes and not one more", () => {
    const budget = new ByteBudget(10);
    expect(reserve(budget, 11)).toBeUndefined();
    expect(reserve(budget, 10)).toBeDefined();
    expect(reserve(budget, 1)).toBeUndefined();
    expect(budget.used).toBe(10);
  });

  it("takes back a reservation once", () => {
    const budget = new ByteBudget(10);
    const kept = reserve(budget, 3);
    const reservation = reserve(budget, 4);
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
    const reservation = reserve(budget, 6);
    expect(reservation?.grow(5)).toBe(false);
    expect(reservation?.bytes).toBe(6);
    expect(budget.used).toBe(6);
  });

  it("grants nothing to a released reservation", () => {
    const budget = new ByteBudget(10);
    const reservation = reserve(budget, 1);
    reservation?.release();
    expect(reservation?.grow(1)).toBe(false);
    reservation?.overdraw(1);
    expect(budget.used).toBe(0);
  });

  it("rejects while it is overdrawn", () => {
    const budget = new ByteBudget(10);
    const reservation = reserve(budget, 1);
    reservation?.overdraw(20);
    expect(budget.used).toBe(21);
    expect(reserve(budget, 0)).toBeUndefined();
    reservation?.release();
    expect(reserve(budget, 10)).toBeDefined();
  });

  it("counts a share's bytes in the whole as well", () => {
    const whole = new ByteBudget(10);
    const [one, other] = [new ByteBudget(6, { whole }), new ByteBudget(6, { whole })];
    const first = reserve(one, 6);
    expect(reserve(one, 1)).toBeUndefined();
    expect(reserve(other, 5)).toBeUndefined();
    expect([one.fullFor(1), other.fullFor(5), other.fullFor(4)]).toEqual([one, whole, undefined]);
    expect([whole.used, other.used]).toEqual([6, 0]);
    const second = reserve(other, 4);
    first?.release();
    second?.release();
    expect([whole.used, one.used, other.used]).toEqual([0, 0, 0]);
  });

  it("has spare bytes for small reservations only", () => {
    const whole = new ByteBudget(4 * smallBytes, { spareBytes: smallBytes });
    const share = new ByteBudget(2 * smallBytes, { whole, spareBytes: smallBytes });
    const large = reserve(share, 2 * smallBytes);
    expect(reserve(share, smallBytes + 1)).toBeUndefined();
    const small = reserve(share, smallBytes - 1);
    expect(small?.grow(2)).toBe(false);
    expect(small?.grow(1)).toBe(true);
    expect(reserve(share, 1)).toBeUndefined();
    expect(reserve(whole, 2 * smallBytes + 1)).toBeUndefined();
    expect(reserve(whole, smallBytes)).toBeDefined();
    large?.release();
    small?.release();
    expect([whole.used, share.used]).toEqual([smallBytes, 0]);
  });

  it("has room for large reservations whatever small ones take of the spare bytes", () => {
    const budget = new ByteBudget(4 * smallBytes, { spareBytes: smallBytes });
    const large = reserve(budget, smallBytes + 1);
    const small = [reserve(budget, smallBytes / 2), reserve(budget, smallBytes / 2)];
    expect(large?.grow(3 * smallBytes)).toBe(false);
    expect(large?.grow(3 * smallBytes - 1)).toBe(true);
    expect(reserve(budget, 1)).toBeUndefined();
    large?.shrinkTo(smallBytes);
    expect(budget.used).toBe(2 * smallBytes);
    expect(reserve(budget, 3 * smallBytes + 1)).toBeUndefined();
    expect(large?.grow(3 * smallBytes)).toBe(true);
    for (const each of [large, ...small]) each?.release();
    expect(budget.used).toBe(0);
    expect(reserve(budget, 4 * smallBytes + 1)).toBeUndefined();
  });
});
