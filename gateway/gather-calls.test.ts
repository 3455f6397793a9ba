import { describe, expect, it } from "vitest";
import { DomainError } from "../services/platform/domain-error.ts";
import type { CallOptions } from "../services/platform/rpc/grpc-client.ts";
import { gatherAlike, gatherCalls } from "./gather-calls.ts";

interface Made {
  readonly requests: readonly string[];
  readonly options: CallOptions;
}

/** A gathered call that answers each request in capitals, fails those that begin with "bad", and shows the calls it made. */
function shout(): { readonly call: ReturnType<typeof gatherCalls<string, { text: string }>>; readonly made: Made[] } {
  const made: Made[] = [];
  const call = gatherCalls<string, { text: string }>(async (requests, options) => {
    made.push({ requests, options });
    if (requests.includes("crash")) throw new Error("crashed");
    return requests.map((request) =>
      request.startsWith("bad")
        ? new DomainError("not_found", { reason: "BAD", message: request })
        : { text: request.toUpperCase() },
    );
  });
  return { call, made };
}

function options(accessToken: string, requestId = "r", deadlineMs = 1_000): CallOptions {
  return { accessToken, requestId, deadlineMs };
}

describe("gatherCalls", () => {
  it("sends a lone call as it is", async () => {
    const { call, made } = shout();
    expect(await call("a", options("token"))).toEqual({ text: "A" });
    expect(made).toEqual([{ requests: ["a"], options: options("token") }]);
  });

  it("makes one call of what one token asks in the same turn, with the earliest deadline and every request id", async () => {
    const { call, made } = shout();
    const answers = await Promise.all([
      call("a", options("token", "r1", 3_000)),
      call("b", options("token", "r2", 2_000)),
      call("c", options("token", "r3", 4_000)),
    ]);
    expect(answers.map(({ text }) => text)).toEqual(["A", "B", "C"]);
    expect(made).toEqual([{ requests: ["a", "b", "c"], options: options("token", "r1,r2,r3", 2_000) }]);
  });

  it("never mixes two tokens", async () => {
    const { call, made } = shout();
    await Promise.all([call("a", options("one")), call("b", options("two")), call("c", options("one"))]);
    expect(made.map(({ requests, options: { accessToken } }) => [accessToken, requests])).toEqual([
      ["one", ["a", "c"]],
      ["two", ["b"]],
    ]);
  });

  it("does not add to a call that has gone out", async () => {
    const { call, made } = shout();
    await call("a", options("token"));
    await call("b", options("token"));
    expect(made.map(({ requests }) => requests)).toEqual([["a"], ["b"]]);
  });

  it("fails only the part that failed", async () => {
    const { call } = shout();
    const results = await Promise.allSettled(["a", "bad", "c"].map((each) => call(each, options("token"))));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((results[1] as PromiseRejectedResult).reason).toMatchObject({ reason: "BAD" });
  });

  it("fails all parts where the call fails", async () => {
    const { call } = shout();
    const results = await Promise.allSettled(["a", "crash"].map((each) => call(each, options("token"))));
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  it("makes a read that is asked for several times once, and another beside it", async () => {
    const made: number[] = [];
    const call = gatherAlike(async ({ n }: { n: number }) => {
      made.push(n);
      if (n === 2) throw new Error("second");
      return { n };
    });
    const results = await Promise.allSettled([1, 1, 2, 1, 2].map((n) => call({ n }, options("token"))));
    expect(made).toEqual([1, 2]);
    expect(results.map(({ status }) => status === "fulfilled")).toEqual([true, true, false, true, false]);
  });

  it("splits a crowd into calls of 16", async () => {
    const { call, made } = shout();
    const crowd = Array.from({ length: 40 }, (_, index) => `n${index}`);
    const answers = await Promise.all(crowd.map((each) => call(each, options("token"))));
    expect(answers.map(({ text }) => text)).toEqual(crowd.map((each) => each.toUpperCase()));
    expect(made.map(({ requests }) => requests.length)).toEqual([16, 16, 8]);
  });
});
