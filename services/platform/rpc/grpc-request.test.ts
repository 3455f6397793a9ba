import { create, toBinary } from "@bufbuild/protobuf";
import { beforeEach, describe, expect, it } from "vitest";
import { CreateVersionRequestSchema, PresetService } from "../../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { grpcFrame } from "../../../test/support/grpc-frame.ts";
import { monotonicMs } from "../time/clock.ts";
import { GrpcRequest } from "./grpc-request.ts";
import { requestBytesMax } from "./message-sizes.ts";
import type { ServedMethod } from "./service.ts";

let request: GrpcRequest;

beforeEach(() => {
  request = requestOf(requestBytesMax);
});

/** To a method that takes messages of this size. */
function requestOf(bytesMax: number): GrpcRequest {
  const parts = { descriptor: PresetService.method.createVersion, requestBytesMax: bytesMax };
  return new GrpcRequest(parts as unknown as ServedMethod);
}

describe("a request", () => {
  it("may be as large as its method takes, and no larger", () => {
    const message = toBinary(CreateVersionRequestSchema, create(CreateVersionRequestSchema, { slug: "large" }));
    for (const [bytesMax, isTaken] of [
      [message.length, true],
      [message.length - 1, false],
    ] as const) {
      const sized = requestOf(bytesMax);
      sized.add(grpcFrame(message));
      sized.end();
      if (isTaken) expect(sized.read()).toMatchObject({ slug: "large" });
      else expect(() => sized.read()).toThrow(`at most ${bytesMax} bytes`);
    }
  });

  it("is refused if a part of another message follows", () => {
    request.add(Buffer.concat([grpcFrame(Buffer.alloc(0)), Buffer.alloc(3)]));
    request.end();
    expect(() => request.read()).toThrow("exactly one message");
  });

  it("is refused as quickly with millions of messages as with two", () => {
    const empty = Buffer.alloc(16 * 1024);
    const startedAtMs = monotonicMs();
    for (let bytes = 0; bytes < 32 * requestBytesMax; bytes += empty.length) request.add(empty);
    request.end();
    expect(() => request.read()).toThrow("exactly one message");
    expect(monotonicMs() - startedAtMs).toBeLessThan(5_000);
  });
});
