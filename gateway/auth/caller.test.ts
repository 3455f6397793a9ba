import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ExchangeKeyResponseSchema } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { DomainError } from "../../services/platform/domain/domain-error.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { Caller } from "./caller.ts";
import { KeyExchange } from "./key-exchange.ts";

const tokenLifeMs = 60_000;
const timeoutMs = 1_000;
const conflict = new DomainError("aborted", { reason: "CONFLICT", message: "Someone else is changing it." });
const tokenRefused = new DomainError("unauthenticated", { reason: "TOKEN_INVALID", message: "No." });

let exchange: KeyExchange;
let exchanges: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(performance, "now").mockImplementation(() => Date.now());
  exchanges = 0;
  const exchangeKey = async () => {
    exchanges += 1;
    return create(ExchangeKeyResponseSchema, {
      accessToken: `token-${exchanges}`,
      expireTime: timestampFromMs(Date.now() + tokenLifeMs),
      expiresInSeconds: tokenLifeMs / 1000,
      principal: { keyId: "id" },
    });
  };
  exchange = new KeyExchange({ exchangeKey }, 10);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Whose request has just come. */
async function newCaller(isStale = false): Promise<Caller> {
  const request = { key: "key", workspaceId: "", requestId: "request" };
  const grant = await exchange.grantFor({ ...request, deadlineMs: monotonicMs() + timeoutMs });
  const rest = { trace: undefined, rateLimit: undefined, reply: undefined as never };
  return new Caller({ ...request, ...rest, exchange, grant, isStale, timeoutMs });
}

const tokenOf = (caller: Caller) => caller.call(async ({ accessToken }) => accessToken);

describe("a call", () => {
  it("has the token of its request while that is valid, and then another", async () => {
    const caller = await newCaller();
    expect([await tokenOf(caller), await tokenOf(caller)]).toEqual(["token-1", "token-1"]);
    vi.advanceTimersByTime(tokenLifeMs);
    expect(await tokenOf(caller)).toBe("token-2");
  });

  it("has the token of a stale grant, which is not exchanged", async () => {
    const caller = await newCaller(true);
    vi.advanceTimersByTime(tokenLifeMs);
    expect([await tokenOf(caller), exchanges]).toEqual(["token-1", 1]);
  });

  it("reports a conflict as such only if no attempt was left unanswered", async () => {
    const caller = await newCaller();
    await expect(caller.call(() => Promise.reject(conflict))).rejects.toBe(conflict);
    const repeated = caller.call(async ({ onOutcomeUnknown }) => {
      onOutcomeUnknown?.();
      throw conflict;
    });
    await expect(repeated).rejects.toMatchObject({ kind: "unavailable" });
    let attempts = 0;
    const withNewToken = caller.call(async ({ onOutcomeUnknown }) => {
      attempts += 1;
      if (attempts === 1) onOutcomeUnknown?.();
      throw attempts === 1 ? tokenRefused : conflict;
    });
    await expect(withNewToken).rejects.toMatchObject({ kind: "unavailable" });
    expect(attempts).toBe(2);
  });
});
