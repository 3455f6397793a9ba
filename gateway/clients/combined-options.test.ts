import { expect, it } from "vitest";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";
import { optionsOfBatch, shareTokenAndDeadline } from "./combined-options.ts";

function options(accessToken: string, requestId: string, deadlineMs: number): CallOptions {
  return { accessToken, requestId, deadlineMs };
}

const calls = [
  { request: 1, options: options("one", "r1", 3_050) },
  { request: 2, options: options("one", "r2", 3_000) },
];

it("gives a batch the latest deadline, all request ids and the token of the first call", () => {
  expect(optionsOfBatch(calls)).toMatchObject(options("one", "r1,r2", 3_050));
});

it("tells every caller if the outcome of a batch is unknown", () => {
  const told: number[] = [];
  const tellers = calls.map((call, index) => ({
    ...call,
    options: { ...call.options, onOutcomeUnknown: () => told.push(index) },
  }));
  optionsOfBatch(tellers).onOutcomeUnknown?.();
  expect(told).toEqual([0, 1]);
});

it("names one request id per part if there are too many for a header", () => {
  const parts = ["a", "b"].map((part) => {
    const ids = Array.from({ length: 40 }, (_, index) => `${part}${index}`).join("|");
    return { request: part, options: options("token", ids, 3_000) };
  });
  expect(optionsOfBatch(parts).requestId).toBe("a0,b0");
});

it("does not cancel a batch because one of its callers has left", () => {
  const { signal } = new AbortController();
  const withSignal = calls.map((call) => ({ ...call, options: { ...call.options, signal } }));
  expect(optionsOfBatch(withSignal).signal).toBeUndefined();
});

it("shares options only between calls with equal tokens and similar deadlines", () => {
  expect(shareTokenAndDeadline(calls)).toBe(true);
  expect(shareTokenAndDeadline([...calls, { request: 3, options: options("two", "r3", 3_000) }])).toBe(false);
  expect(shareTokenAndDeadline([...calls, { request: 3, options: options("one", "r3", 150) }])).toBe(false);
});
