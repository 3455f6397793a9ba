import { expect, it } from "vitest";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";
import { optionsOfBatch, shareTokenAndDeadline } from "./options-of-several.ts";

function options(accessToken: string, requestId: string, deadlineMs: number): CallOptions {
  return { accessToken, requestId, deadlineMs };
}

const calls = [
  { request: 1, options: options("one", "r1", 3_050) },
  { request: 2, options: options("one", "r2", 3_000) },
];

it("a batch has the latest deadline, every request id and the token of the first call", () => {
  expect(optionsOfBatch(calls)).toMatchObject(options("one", "r1,r2", 3_050));
});

it("a batch that is left open tells every caller so", () => {
  const told: number[] = [];
  const tellers = calls.map((call, index) => ({
    ...call,
    options: { ...call.options, onOutcomeUnknown: () => told.push(index) },
  }));
  optionsOfBatch(tellers).onOutcomeUnknown?.();
  expect(told).toEqual([0, 1]);
});

it("a batch names one request of each part where there are more than a header holds", () => {
  const parts = ["a", "b"].map((part) => {
    const ids = Array.from({ length: 40 }, (_, index) => `${part}${index}`).join("|");
    return { request: part, options: options("token", ids, 3_000) };
  });
  expect(optionsOfBatch(parts).requestId).toBe("a0,b0");
});

it("a batch is not canceled because one of its callers has gone", () => {
  const { signal } = new AbortController();
  const withSignal = calls.map((call) => ({ ...call, options: { ...call.options, signal } }));
  expect(optionsOfBatch(withSignal).signal).toBeUndefined();
});

it("calls share their options only where all tokens are the same, and all deadlines nearly so", () => {
  expect(shareTokenAndDeadline(calls)).toBe(true);
  expect(shareTokenAndDeadline([...calls, { request: 3, options: options("two", "r3", 3_000) }])).toBe(false);
  expect(shareTokenAndDeadline([...calls, { request: 3, options: options("one", "r3", 150) }])).toBe(false);
});
