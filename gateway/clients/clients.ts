import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import { monotonicMs } from "../../services/platform/process/clock.ts";
import type { ReadinessCheck } from "../../services/platform/process/health.ts";
import type { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { type Channel, grpcClient, type Methods, openChannel } from "../../services/platform/rpc/grpc-client.ts";
import type { GatewayConfig } from "../config.ts";
import { type OrganizationClient, organizationClient } from "./organization-client.ts";
import { type PresetClient, presetClient } from "./preset-client.ts";

/** The services behind the gateway. */
export interface Clients {
  readonly presets: PresetClient;
  readonly organization: OrganizationClient;
  readonly access: Methods<typeof AccessService>;
  /** Fails until each service has been ready once. After that their faults are answers (503), not a reason to take the gateway away. */
  readonly haveBeenReady: ReadinessCheck;
}

export function openClients(config: GatewayConfig, lifecycle: Lifecycle): Clients {
  const preset = openChannel(config.presetTarget, config.grpcTls);
  const organization = openChannel(config.organizationTarget, config.grpcTls);
  lifecycle.opened("service channels", () => {
    preset.close();
    organization.close();
  });
  const haveBeenReady = onceReady([
    ["preset", preset],
    ["organization", organization],
  ]);
  lifecycle.opened("readiness watch", watch(haveBeenReady));
  return {
    presets: presetClient(grpcClient(PresetService, preset)),
    organization: organizationClient(grpcClient(OrganizationService, organization)),
    access: grpcClient(AccessService, organization),
    haveBeenReady,
  };
}

const watchEveryMs = 1_000;

/** Asks until the services have been ready, so that this is known also where nobody asked for it meanwhile. */
function watch(haveBeenReady: ReadinessCheck): () => void {
  const timer = setInterval(() => haveBeenReady().then(stop, () => {}), watchEveryMs);
  const stop = () => clearInterval(timer);
  return stop;
}

const checkTimeoutMs = 1_000;

function onceReady(channels: readonly [string, Channel][]): ReadinessCheck {
  const ready = new Set<string>();
  return async () => {
    await Promise.all(
      channels.map(async ([name, channel]) => {
        if (ready.has(name)) return;
        const options = { requestId: "readiness", deadlineMs: monotonicMs() + checkTimeoutMs };
        const answer = await grpcClient(Health, channel)
          .check({}, options)
          .catch(() => undefined);
        if (answer?.status !== ServingStatus.SERVING) throw new Error(`the ${name} service is not ready`);
        ready.add(name);
      }),
    );
  };
}
