import { describe, expect, it } from "vitest";
import { DomainError, unavailable } from "../../services/platform/domain/domain-error.ts";
import type { CallOptions } from "../../services/platform/rpc/grpc-client.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { batchCalls, batchIdenticalCalls } from "./batched-calls.ts";
import type { Call } from "./combined-options.ts";

type Answer = { readonly text: string };

/** A batched call that returns each request in capitals, fails those that start with "bad", and exposes its calls. */
function shout(gather: typeof batchCalls<string, Answer> = batchCalls) {
  const made: (readonly Call<string>[])[] = [];
  const callBatch = async (calls: readonly Call<string>[]) => {
    made.push(calls);
    if (calls.some(({ request }) => request === "crash")) throw new Error("crashed");
    if (calls.some(({ request }) => request === "away")) throw unavailable("away");
    return calls.map(({ request }) =>
      request.startsWith("bad")
        ? new DomainError("not_found", { reason: "BAD", message: request })
        : { text: request.toUpperCase() },
    );
  };
  const callAlone = async (request: string, options: CallOptions) => {
    const [answer] = await callBatch([{ request, options }]);
    if (answer instanceof Error) throw answer;
    return answer as Answer;
  };
  const call = gather({ call: callAlone, callBatch, bytesOf: ({ length }) => length });
  return { call, madeRequests: () => made.map((calls) => calls.map(({ request }) => request)), made };
}

const soonMs = monotonicMs() + 60_000;

function options(accessToken: string, requestId = "r", deadlineMs = soonMs): CallOptions {
  return { accessToken, requestId, deadlineMs };
}

describe("batchCalls", () => {
  it("sends a single call unchanged", async () => {
    const { call, made } = shout();
    expect(await call("a", options("token"))).toEqual({ text: "A" });
    expect(made).toEqual([[{ request: "a", options: options("token") }]]);
  });

  it("batches simultaneous calls, even of different callers", async () => {
    const { call, made } = shout();
    const answers = await Promise.all([call("a", options("one")), call("b", options("two"))]);
    expect(answers.map(({ text }) => text)).toEqual(["A", "B"]);
    expect(made.map((calls) => calls.map(({ options: { accessToken } }) => accessToken))).toEqual([["one", "two"]]);
  });

  it("splits many calls into batches of 32", async () => {
    const { call, madeRequests } = shout();
    const crowd = Array.from({ length: 160 }, (_, index) => `n${index}`);
    const answers = await Promise.all(crowd.map((each) => call(each, options("token"))));
    expect(answers.map(({ text }) => text)).toEqual(crowd.map((each) => each.toUpperCase()));
    expect(madeRequests().map(({ length }) => length)).toEqual([32, 32, 32, 32, 32]);
  });

  it("refuses calls while ten thousand wait", async () => {
    const running = 256 * 32;
    const never = new Promise<never>(() => {});
    const call = batchCalls<string, object>({ call: () => never, bytesOf: () => 1 });
    for (let count = 0; count < running + 10_000; count += 1) call(`n${count}`, options("token")).catch(() => {});
    await expect(call("last", options("token"))).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("fails only the part that failed", async () => {
    const { call } = shout();
    const results = await Promise.allSettled(["a", "bad", "c"].map((each) => call(each, options("token"))));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((results[1] as PromiseRejectedResult).reason).toMatchObject({ reason: "BAD" });
  });

  it("repeats each call alone if one makes the whole batch fail", async () => {
    const { call, madeRequests } = shout();
    const results = await Promise.allSettled(["a", "crash", "b"].map((each) => call(each, options("token"))));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(madeRequests()).toEqual([["a", "crash", "b"], ["a"], ["crash"], ["b"]]);
  });

  it("fails all calls if the service is unreachable", async () => {
    const { call, madeRequests } = shout();
    const results = await Promise.allSettled(["a", "away"].map((each) => call(each, options("token"))));
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(madeRequests()).toEqual([["a", "away"]]);
  });

  it("does not repeat a single call that the client has already repeated until its deadline", async () => {
    const { call, madeRequests } = shout();
    await expect(call("away", options("token"))).rejects.toMatchObject({ kind: "unavailable" });
    expect(madeRequests()).toEqual([["away"]]);
  });

  it("repeats a part once, and gives only its caller the error of the repeat", async () => {
    const repeated: string[] = [];
    const call = batchCalls<string, Answer>({
      bytesOf: () => 1,
      call: async (request) => {
        repeated.push(request);
        throw unavailable("still away");
      },
      callBatch: async (calls) =>
        calls.map(({ request }) => (request === "b" ? unavailable("away") : { text: request })),
    });
    const results = await Promise.allSettled(["a", "b", "c"].map((each) => call(each, options("token"))));
    expect(results).toMatchObject([
      { value: { text: "a" } },
      { reason: { message: "still away" } },
      { value: { text: "c" } },
    ]);
    expect(repeated).toEqual(["b"]);
  });

  it("does not repeat a part whose caller has given up", async () => {
    const repeated: string[] = [];
    const batch = Promise.withResolvers<readonly Error[]>();
    const call = batchCalls<string, Answer>({
      bytesOf: () => 1,
      call: async (request) => {
        repeated.push(request);
        return { text: request };
      },
      callBatch: () => batch.promise,
    });
    const hasty = options("token", "r1", monotonicMs() + 60);
    const patient = call("patient", options("token", "r2"));
    await expect(call("hasty", hasty)).rejects.toMatchObject({ kind: "deadline_exceeded" });
    batch.resolve([unavailable("away"), unavailable("away")]);
    expect(await patient).toEqual({ text: "patient" });
    expect(repeated).toEqual(["patient"]);
  });

  it("times out a caller with a short deadline without affecting the others", async () => {
    let answer = () => {};
    const call = batchCalls<string, Answer>({
      bytesOf: () => 1,
      call: () => Promise.reject(new Error("There are two")),
      callBatch: (calls) =>
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

  it("does not make a caller wait for another's later answer", async () => {
    const late = Promise.withResolvers<Answer>();
    const call = batchCalls<string, Answer>({
      bytesOf: () => 1,
      call: async (request) => (request === "late" ? late.promise : { text: request }),
    });
    const [slow, quick] = [call("late", options("token")), call("quick", options("token"))];
    expect(await quick).toEqual({ text: "quick" });
    late.resolve({ text: "late" });
    expect(await slow).toEqual({ text: "late" });
  });
});

describe("batchIdenticalCalls", () => {
  it("shares identical reads of one caller, but not of two", async () => {
    const { call, made } = shout(batchIdenticalCalls);
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

  it("does not share reads between callers with different tokens", async () => {
    const { call, made } = shout(batchIdenticalCalls);
    const tokens = ["head.one.signature", "head.two.signature", "other.one.signature", "head.one.other"];
    await Promise.all(tokens.map((token) => call("a", options(token))));
    expect(made.flat().map((each) => each.options.accessToken)).toEqual(tokens);
  });

  it("sends no more request ids than fit into a header", async () => {
    const { call, made } = shout(batchIdenticalCalls);
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => call("a", options("token", `r${index}`))));
    const crowd = made.flat().map((each) => each.options.requestId.split("|").length);
    expect(crowd.every((count) => count <= 64)).toBe(true);
  });

  it("sends all request ids, with the latest deadline for shared reads", async () => {
    const { call, made } = shout(batchIdenticalCalls);
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

  it("does not cancel a shared call because one caller has left", async () => {
    const { signal } = new AbortController();
    const { call, made } = shout(batchIdenticalCalls);
    await Promise.all([
      call("a", { ...options("one", "r1"), signal }),
      call("a", options("one", "r2")),
      call("b", { ...options("one", "r3"), signal }),
    ]);
    expect(made[0]?.map(({ options: each }) => each.signal)).toEqual([undefined, signal]);
  });

  it("repeats a shared read once, with the latest deadline, for all who wait for it", async () => {
    const repeats: CallOptions[] = [];
    const call = batchIdenticalCalls<string, Answer>({
      bytesOf: () => 1,
      call: async (request, each) => {
        repeats.push(each);
        return { text: request };
      },
      callBatch: async (calls) =>
        calls.map(({ request }) => (request === "a" ? unavailable("away") : { text: request })),
    });
    const answers = await Promise.all([
      call("a", options("one", "r1", soonMs - 1)),
      call("a", options("one", "r2", soonMs)),
      call("b", options("one", "r3")),
    ]);
    expect(answers.map(({ text }) => text)).toEqual(["a", "a", "b"]);
    expect(repeats).toEqual([options("one", "r1|r2", soonMs)]);
  });

  it("makes individual calls without a batch method, and fails only those that fail", async () => {
    const call = batchIdenticalCalls({
      bytesOf: () => 1,
      call: async ({ n }: { n: number }, { accessToken }: CallOptions) => {
        if (n === 2) throw new Error("second");
        return { seen: `${accessToken} ${n}` };
      },
    });
    const results = await Promise.allSettled([1, 2, 1].map((n) => call({ n }, options("token"))));
    expect(results).toMatchObject([{ value: { seen: "token 1" } }, { status: "rejected" }, { status: "fulfilled" }]);
  });
});
