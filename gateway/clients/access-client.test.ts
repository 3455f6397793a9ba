import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { StatusSchema } from "../../proto/gen/google/rpc/status_pb.ts";
import {
  type AccessService,
  ExchangeKeyResponseSchema,
} from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { Metrics } from "../../services/platform/observe/metrics.ts";
import type { CallOptions, Methods } from "../../services/platform/rpc/grpc-client.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { accessClient } from "./access-client.ts";

const unauthenticatedCode = 16;

const granted = (key = "") => create(ExchangeKeyResponseSchema, { accessToken: `token of ${key}` });
const refused = { case: "error", value: create(StatusSchema, { code: unauthenticatedCode, message: "no" }) };

/** A client of a service that refuses the key "bad" and has no outcome for the key "late". */
function clientOf() {
  const made: string[][] = [];
  const requestIds: string[] = [];
  const methods = {
    exchangeKey: async ({ key }: { key: string }) => {
      made.push([key]);
      return granted(key);
    },
    batchExchangeKeys: async ({ requests }: { requests: { key: string }[] }, { requestId }: CallOptions) => {
      made.push(requests.map(({ key }) => key));
      requestIds.push(requestId);
      const outcomes = requests.map(({ key }) =>
        key === "bad" ? refused : key === "late" ? { case: undefined } : { case: "response", value: granted(key) },
      );
      return { outcomes: outcomes.map((outcome) => ({ outcome })) };
    },
  } as unknown as Methods<typeof AccessService>;
  const { exchangeKey } = accessClient(methods, new Metrics("test"));
  const exchange = (key: string) =>
    exchangeKey({ key }, { requestId: `for ${key}`, deadlineMs: monotonicMs() + 10_000 });
  return { made, requestIds, exchange };
}

describe("the key exchange", () => {
  it("is a single call for a single key", async () => {
    const { made, exchange } = clientOf();
    expect(await exchange("a")).toMatchObject({ accessToken: "token of a" });
    expect(made).toEqual([["a"]]);
  });

  it("is one call for simultaneous keys, with all request ids", async () => {
    const { made, requestIds, exchange } = clientOf();
    const answers = await Promise.all(["a", "b", "c"].map(exchange));
    expect(answers.map(({ accessToken }) => accessToken)).toEqual(["token of a", "token of b", "token of c"]);
    expect(made).toEqual([["a", "b", "c"]]);
    expect(requestIds).toEqual(["for a,for b,for c"]);
  });

  it("fails only for the rejected key", async () => {
    const { made, exchange } = clientOf();
    const results = await Promise.allSettled(["a", "bad"].map(exchange));
    expect(results).toMatchObject([{ status: "fulfilled" }, { reason: { kind: "unauthenticated" } }]);
    expect(made).toEqual([["a", "bad"]]);
  });

  it("is repeated alone only for the key that got no outcome", async () => {
    const { made, exchange } = clientOf();
    const answers = await Promise.all(["a", "late"].map(exchange));
    expect(answers.map(({ accessToken }) => accessToken)).toEqual(["token of a", "token of late"]);
    expect(made).toEqual([["a", "late"], ["late"]]);
  });
});
