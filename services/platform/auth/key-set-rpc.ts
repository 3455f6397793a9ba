import { timestampMs } from "@bufbuild/protobuf/wkt";
import { AccessService } from "../../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import type { Channel } from "../rpc/channel.ts";
import { grpcClient } from "../rpc/grpc-client.ts";
import { monotonicMs } from "../time/clock.ts";
import { type FetchKeySet, fetchTimeoutMs, keysFromJson } from "./key-set.ts";

/** Asks the organization service for its keys over gRPC: with mutual TLS, nobody else can answer. */
export function keySetOf(channel: Channel): FetchKeySet {
  const access = grpcClient(AccessService, channel);
  return async () => {
    const options = { requestId: "key-set", deadlineMs: monotonicMs() + fetchTimeoutMs };
    const { jwksJson, currentTime } = await access.getKeySet({}, options);
    return { keys: keysFromJson(jwksJson), timeMs: currentTime && timestampMs(currentTime) };
  };
}
