import { beforeEach, describe, expect, it } from "vitest";
import { PresetService } from "../../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { grpcFrame } from "../../../test/support/grpc-frame.ts";
import { monotonicMs } from "../process/clock.ts";
import { GrpcRequest } from "./grpc-request.ts";
import { requestBytesMax } from "./message-sizes.ts";
import type { ServedMethod } from "./service.ts";

let request: GrpcRequest;

beforeEach(() => {
  const method = { descriptor: PresetService.method.createVersion, requestBytesMax } as unknown as ServedMethod;
  request = new GrpcRequest(method);
});

describe("a request", () => {
  it("is refused if a part of another message follows", () => {
    request.add(Buffer.concat([grpcFrame(Buffer.alloc(0)), Buffer.alloc(3)]));
    request.end();
    expect(() => request.read()).toThrow("exactly one message");
  });

  it("is refused as quickly with millions of messages as with two", () => {
    const empty = Buffer.alloc(16 * 1024);
    const startedAtMs = monotonicMs();
    for (let bytes = 0; bytes < requestBytesMax; bytes += empty.length) request.add(empty);
    request.end();
    expect(() => request.read()).toThrow("exactly one message");
    expect(monotonicMs() - startedAtMs).toBeLessThan(5_000);
  });
});
