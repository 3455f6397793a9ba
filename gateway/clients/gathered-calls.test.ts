import { describe, expect, it } from "vitest";
import { DomainError, unavailable } from "../../services/platform/domain/domain-error.ts";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";
import { areOfOne, type Call, callEach, gatherAlike, gatherCalls, optionsTogether } from "./gathered-calls.ts";

type Shout = (request: string, options: CallOptions) => Promise<{ text: string }>;

/** A gathered call that answers each request in capitals, fails those that begin with "bad", and shows the calls it made. */
function shout(gather: typeof gatherCalls<string, { text: string }> = gatherCalls) {
  const made: (readonly Call<string>[])[] = [];
  const callTogether = async (calls: readonly Call<string>[]) => {
    made.push(calls);
    if (calls.some(({ request }) => request === "crash")) throw new Error("crashed");
    if (calls.some(({ request }) => request === "away")) throw unavailable("away");
    return calls.map(({ request }) =>
      request.startsWith("bad")
        ? new DomainError("not_found", { reason: "BAD", message: request })
        : { text: request.toUpperCase() },
    );
  };
  const call: Shout = gather({ callTogether, bytesOf: ({ length }) => length });
  return { call, madeRequests: () => made.map((calls) => calls.map(({ request }) => request)), made };
}

const soonMs = monotonicMs() + 60_000;

function options(accessToken: string, requestId = "r", deadlineMs = soonMs): CallOptions {
  return { accessToken, requestId, deadlineMs };
}

describe("gatherCalls", () => {
  it("sends a lone call as it is", async () => {
    const { call, made } = shout();
    expect(await call("a", options("token"))).toEqual({ text: "A" });
    expect(made).toEqual([[{ request: "a", options: options("token") }]]);
  });

  it("makes one call of what comes together, also of different callers", async () => {
    const { call, made } = shout();
    const answers = await Promise.all([call("a", options("one")), call("b", options("two"))]);
    expect(answers.map(({ text }) => text)).toEqual(["A", "B"]);
    expect(made.map((calls) => calls.map(({ options: { accessToken } }) => accessToken))).toEqual([["one", "two"]]);
  });

  it("splits a crowd into calls of 64", async () => {
    const { call, madeRequests } = shout();
    const crowd = Array.from({ length: 160 }, (_, index) => `n${index}`);
    const answers = await Promise.all(crowd.map((each) => call(each, options("token"))));
    expect(answers.map(({ text }) => text)).toEqual(crowd.map((each) => each.toUpperCase()));
    expect(madeRequests().map(({ length }) => length)).toEqual([64, 64, 32]);
  });

  it("fails only the part that failed", async () => {
    const { call } = shout();
    const results = await Promise.allSettled(["a", "bad", "c"].map((each) => call(each, options("token"))));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((results[1] as PromiseRejectedResult).reason).toMatchObject({ reason: "BAD" });
  });

  it("makes each call alone where one fails them all", async () => {
    const { call, madeRequests } = shout();
    const results = await Promise.allSettled(["a", "crash", "b"].map((each) => call(each, options("token"))));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(madeRequests()).toEqual([["a", "crash", "b"], ["a"], ["crash"], ["b"]]);
  });

  it("fails all where the service is away", async () => {
    const { call, madeRequests } = shout();
    const results = await Promise.allSettled(["a", "away"].map((each) => call(each, options("token"))));
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(madeRequests()).toEqual([["a", "away"]]);
  });

  it("answers whoever has little time by then, and leaves the others theirs", async () => {
    let answer = () => {};
    const call = gatherCalls<string, { text: string }>({
      bytesOf: () => 1,
      callTogether: (calls) =>
        new Promise((resolve) => {
          answer = () => resolve(calls.map(({ request }) => ({ text: request })));
        }),
    });
    const hasty = call("hasty", options("token", "r1", monotonicMs() + 150));
    const patient = call("patient", options("token", "r2"));
    await expect(hasty).rejects.toMatchObject({ kind: "deadline_exceeded" });
    answer();
    expect(await patient).toEqual({ text: "patient" });
  });

  it("has nobody wait for an answer to somebody else that comes later", async () => {
    const late = Promise.withResolvers<{ text: string }>();
    const call = gatherCalls<string, { text: string }>({
      bytesOf: () => 1,
      callTogether: callEach(async (request) => (request === "late" ? late.promise : { text: request })),
    });
    const [slow, quick] = [call("late", options("token")), call("quick", options("token"))];
    expect(await quick).toEqual({ text: "quick" });
    late.resolve({ text: "late" });
    expect(await slow).toEqual({ text: "late" });
  });
});

describe("gatherAlike", () => {
  it("makes a read that one caller asks for several times once, and another beside it", async () => {
    const { call, made } = shout(gatherAlike);
    const asked = ["a", "a", "bad", "a", "bad"].map((each) => call(each, options("one")));
    const results = await Promise.allSettled([...asked, call("a", options("two"))]);
    expect(results.map(({ status }) => status === "fulfilled")).toEqual([true, true, false, true, false, true]);
    expect(made.map((calls) => calls.map(({ request, options: { accessToken } }) => [accessToken, request]))).toEqual([
      [
        ["one", "a"],
        ["one", "bad"],
        ["two", "a"],
      ],
    ]);
  });

  it("shares nothing between callers whose tokens differ in any part", async () => {
    const { call, made } = shout(gatherAlike);
    const tokens = ["head.one.signature", "head.two.signature", "other.one.signature", "head.one.other"];
    await Promise.all(tokens.map((token) => call("a", options(token))));
    expect(made.flat().map((each) => each.options.accessToken)).toEqual(tokens);
  });

  it("names no more requests of a crowd than a header holds, but one of each part", async () => {
    const { call, made } = shout(gatherAlike);
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => call("a", options("token", `r${index}`))));
    const crowd = made.flat().map((each) => each.options.requestId.split("|").length);
    expect(crowd.every((count) => count <= 64)).toBe(true);
    const parts = ["a", "b"].map((part) => {
      const names = Array.from({ length: 40 }, (_, index) => `${part}${index}`).join("|");
      return { request: part, options: options("token", names) };
    });
    expect(optionsTogether(parts).requestId).toBe("a0,b0");
  });

  it("names every request to the service, those that are alike as one with the latest deadline", async () => {
    const { call, made } = shout(gatherAlike);
    await Promise.all([
      call("a", options("one", "r1", soonMs - 1)),
      call("b", options("one", "r2", soonMs)),
      call("a", options("one", "r3", soonMs)),
    ]);
    expect(made[0]?.map(({ options: each }) => each)).toEqual([
      options("one", "r1|r3", soonMs),
      options("one", "r2", soonMs),
    ]);
  });

  it("cancels no call of several because one of them has gone", async () => {
    const { signal } = new AbortController();
    const { call, made } = shout(gatherAlike);
    await Promise.all([
      call("a", { ...options("one", "r1"), signal }),
      call("a", options("one", "r2")),
      call("b", { ...options("one", "r3"), signal }),
    ]);
    expect(made[0]?.map(({ options: each }) => each.signal)).toEqual([undefined, signal]);
    expect(optionsTogether(made[0] as Call<string>[]).signal).toBeUndefined();
  });

  it("makes each call by itself where there is no batch, and fails only those that fail", async () => {
    const call = gatherAlike({
      bytesOf: () => 1,
      callTogether: callEach(async ({ n }: { n: number }, { accessToken }: CallOptions) => {
        if (n === 2) throw new Error("second");
        return { seen: `${accessToken} ${n}` };
      }),
    });
    const results = await Promise.allSettled([1, 2, 1].map((n) => call({ n }, options("token"))));
    expect(results).toMatchObject([{ value: { seen: "token 1" } }, { status: "rejected" }, { status: "fulfilled" }]);
  });
});

describe("several calls as one", () => {
  const calls = [
    { request: 1, options: options("one", "r1", 3_050) },
    { request: 2, options: options("one", "r2", 3_000) },
  ];

  it("have the latest deadline, every request id and the token of the first", () => {
    expect(optionsTogether(calls)).toMatchObject(options("one", "r1,r2", 3_050));
  });

  it("tell every caller that the call was left open", () => {
    const told: number[] = [];
    const tellers = calls.map((call, index) => ({
      ...call,
      options: { ...call.options, onLeftOpen: () => told.push(index) },
    }));
    optionsTogether(tellers).onLeftOpen?.();
    expect(told).toEqual([0, 1]);
  });

  it("are of one caller only where all tokens and deadlines are the same", () => {
    expect(areOfOne(calls)).toBe(true);
    expect(areOfOne([...calls, { request: 3, options: options("two", "r3", 3_000) }])).toBe(false);
    expect(areOfOne([...calls, { request: 3, options: options("one", "r3", 150) }])).toBe(false);
  });
});
