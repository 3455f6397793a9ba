import { timestampMs } from "@bufbuild/protobuf/wkt";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { type FetchKeySet, fetchTimeoutMs, jwksFrom, keysFromJson } from "../platform/auth/key-set.ts";
import type { Lifecycle } from "../platform/process/lifecycle.ts";
import { type Channel, openChannel } from "../platform/rpc/channel.ts";
import { grpcClient } from "../platform/rpc/grpc-client.ts";
import { monotonicMs } from "../platform/time/clock.ts";
import type { PresetConfig } from "./config.ts";

/** Where the public keys of access tokens come from. */
export function openKeySource(
  { organizationTarget, jwksUrl = "", grpcTls }: PresetConfig,
  lifecycle: Lifecycle,
): FetchKeySet {
  if (organizationTarget === undefined) return jwksFrom(jwksUrl);
  const channel = openChannel(organizationTarget, grpcTls);
  lifecycle.opened("organization channel", () => channel.close());
  return keySetOf(channel);
}

/** Asks the organization service for its keys over gRPC: with mutual TLS, nobody else can answer. */
function keySetOf(channel: Channel): FetchKeySet {
  const access = grpcClient(AccessService, channel);
  return async () => {
    const options = { requestId: "key-set", deadlineMs: monotonicMs() + fetchTimeoutMs };
    const { jwksJson, currentTime } = await access.getKeySet({}, options);
    return { keys: keysFromJson(jwksJson), timeMs: currentTime && timestampMs(currentTime) };
  };
}
