import { describe, expect, it } from "vitest";
import { DomainError, unavailable } from "../services/platform/domain/domain-error.ts";
import type { CallOptions } from "../services/platform/rpc/grpc-client.ts";
import { areOfOne, type Call, callEach, gatherAlike, gatherCalls, optionsTogether } from "./gather-calls.ts";

type Shout = (request: string, options: CallOptions) => Promise<{ text: string }>;

/** A gathered call that answers each request in capitals, fails those that begin with "bad", and shows the calls it made. */
function shout(gather: typeof gatherCalls<string, { text: string }> = gatherCalls) {
  const made: (readonly Call<string>[])[] = [];
  const call: Shout = gather(async (calls) => {
    made.push(calls.map(({ request, options }) => ({ request, options })));
    if (calls.some(({ request }) => request === "crash")) throw new Error("crashed");
    if (calls.some(({ request }) => request === "away")) throw unavailable("away");
    return calls.map(({ request }) =>
      request.startsWith("bad")
        ? new DomainError("not_found", { reason: "BAD", message: request })
        : { text: request.toUpperCase() },
    );
  });
  return { call, madeRequests: () => made.map((calls) => calls.map(({ request }) => request)), made };
}

function options(accessToken: string, requestId = "r", deadlineMs = 1_000): CallOptions {
  return { accessToken, requestId, deadlineMs };
}

const turn = () => new Promise(setImmediate);

describe("gatherCalls", () => {
  it("sends a lone call as it is", async () => {
    const { call, made } = shout();
    expect(await call("a", options("token"))).toEqual({ text: "A" });
    expect(made).toEqual([[{ request: "a", options: options("token") }]]);
  });

  it("makes one call of what comes in the same turn, each in its own name", async () => {
    const { call, made } = shout();
    const answers = await Promise.all([call("a", options("one")), call("b", options("two"))]);
    expect(answers.map(({ text }) => text)).toEqual(["A", "B"]);
    expect(made).toEqual([
      [
        { request: "a", options: options("one") },
        { request: "b", options: options("two") },
      ],
    ]);
  });

  it("waits while each turn brings more, and no longer", async () => {
    const { call, madeRequests } = shout();
    const first = call("a", options("token"));
    await turn();
    const second = call("b", options("token"));
    await turn();
    await turn();
    const late = call("c", options("token"));
    await Promise.all([first, second, late]);
    expect(madeRequests()).toEqual([["a", "b"], ["c"]]);
  });

  it("does not wait for more once it has 64", async () => {
    const { call, madeRequests } = shout();
    const crowd = Array.from({ length: 64 }, (_, index) => call(`n${index}`, options("token")));
    await turn();
    expect(madeRequests().map(({ length }) => length)).toEqual([64]);
    await Promise.all(crowd);
  });

  it("does not add to a call that has gone out", async () => {
    const { call, madeRequests } = shout();
    await call("a", options("token"));
    await call("b", options("token"));
    expect(madeRequests()).toEqual([["a"], ["b"]]);
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

  it("names every request to the service, those that are alike as one", async () => {
    const { call, made } = shout(gatherAlike);
    await Promise.all([
      call("a", options("one", "r1", 3_000)),
      call("b", options("one", "r2", 3_000)),
      call("a", options("one", "r3", 2_000)),
    ]);
    expect(made[0]?.map(({ options: each }) => each)).toEqual([
      options("one", "r1|r3", 2_000),
      options("one", "r2", 3_000),
    ]);
  });

  it("makes each call by itself where there is no batch, and fails only those that fail", async () => {
    const call = gatherAlike(
      callEach(async ({ n }: { n: number }, { accessToken }: CallOptions) => {
        if (n === 2) throw new Error("second");
        return { seen: `${accessToken} ${n}` };
      }),
    );
    const results = await Promise.allSettled([1, 2, 1].map((n) => call({ n }, options("token"))));
    expect(results).toMatchObject([{ value: { seen: "token 1" } }, { status: "rejected" }, { status: "fulfilled" }]);
  });
});

describe("several calls as one", () => {
  const calls = [
    { request: 1, options: options("one", "r1", 3_000) },
    { request: 2, options: options("one", "r2", 2_000) },
  ];

  it("have the earliest deadline, every request id and the token of the first", () => {
    expect(optionsTogether(calls)).toEqual(options("one", "r1,r2", 2_000));
  });

  it("are of one caller only where all tokens are the same", () => {
    expect(areOfOne(calls)).toBe(true);
    expect(areOfOne([...calls, { request: 3, options: options("two") }])).toBe(false);
  });
});
