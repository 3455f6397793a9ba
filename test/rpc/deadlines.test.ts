import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { canceled } from "../../services/platform/domain/domain-error.ts";
import { grpcPathOf } from "../../services/platform/rpc/grpc-messages.ts";
import { monotonicMs } from "../../services/platform/time/clock.ts";
import { openStubService, type StubService } from "../support/stub-service.ts";

const { getPreset, listPresets } = PresetService.method;

let service: StubService;
/** How much time the last call had when it began, and so its parts that asked for as much, for more and for less. */
let leftMs: Record<"call" | "same" | "longer" | "shorter", number>;
let negative: Promise<unknown>;

beforeAll(async () => {
  service = await openStubService({
    methods: {
      getPreset: async (_, context) => {
        const nowMs = monotonicMs();
        const partMs = async (timeoutMs: number) =>
          (await context.onBehalfOf(service.token, timeoutMs)).deadlineMs - nowMs;
        leftMs = {
          call: context.deadlineMs - nowMs,
          same: await partMs(0),
          longer: await partMs(60_000),
          shorter: await partMs(100),
        };
        negative = partMs(-1);
        negative.catch(() => {});
        return {};
      },
      listPresets: async (_, { isCanceled }) => {
        await sleep(50);
        if (isCanceled()) throw canceled();
        return {};
      },
    },
  });
});

afterAll(() => service.close());

describe("a call has the time", () => {
  it.each([
    ["that its caller gives it", "5000", 5_000],
    ["that any call has at most, if its caller gives it more", "3600000", 15_000],
    ["that any call has at most, if its caller gives it none", undefined, 15_000],
  ])("%s, and none of its parts has more", async (_name, timeout, mostMs) => {
    const { status } = await fetch(`http://127.0.0.1:${service.httpPort}${grpcPathOf(getPreset)}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${service.token}`,
        ...(timeout !== undefined && { "connect-timeout-ms": timeout }),
      },
      body: "{}",
    });
    expect(status).toBe(200);
    expect(leftMs.call).toBeLessThanOrEqual(mostMs);
    expect(leftMs.call).toBeGreaterThan(mostMs - 3_000);
    expect([leftMs.same, leftMs.longer]).toEqual([leftMs.call, leftMs.call]);
    expect(leftMs.shorter).toBeLessThanOrEqual(100);
    await expect(negative).rejects.toMatchObject({ kind: "invalid_argument" });
  });
});

/** No message, and so an empty one. */
const emptyEnvelope = Buffer.alloc(5);

describe("a call whose caller has longer than a timer can count", () => {
  it.each([
    ["Connect", { "content-type": "application/json", "connect-timeout-ms": "9999999999" }, "{}"],
    ["gRPC-Web", { "content-type": "application/grpc-web+proto", "grpc-timeout": "99999999H" }, emptyEnvelope],
  ])("is answered over %s", async (_protocol, headers, body) => {
    const answer = await fetch(`http://127.0.0.1:${service.httpPort}${grpcPathOf(listPresets)}`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${service.token}` },
      body,
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(/^\{\}$|grpc-status: 0/);
  });
});
