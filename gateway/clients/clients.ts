import { AccessService } from "../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { KeyService } from "../../proto/gen/setpoint/organization/v1/key_service_pb.ts";
import { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import { SessionService } from "../../proto/gen/setpoint/organization/v1/session_service_pb.ts";
import { WorkspaceService } from "../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { PresetService } from "../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import type { Metrics } from "../../services/platform/observe/metrics.ts";
import type { ReadinessCheck } from "../../services/platform/process/health.ts";
import type { Lifecycle } from "../../services/platform/process/lifecycle.ts";
import { type Channel, openChannel } from "../../services/platform/rpc/channel.ts";
import { grpcClient, type Methods } from "../../services/platform/rpc/grpc-client.ts";
import type { GatewayConfig } from "../config.ts";
import { type AccessClient, accessClient } from "./access-client.ts";
import { type OrganizationClient, organizationClient } from "./organization-client.ts";
import { type PresetClient, presetClient } from "./preset-client.ts";

/** The services behind the gateway. */
export interface Clients {
  readonly presets: PresetClient;
  readonly organization: OrganizationClient;
  readonly keys: Methods<typeof KeyService>;
  readonly workspaces: Methods<typeof WorkspaceService>;
  readonly access: AccessClient;
  readonly sessions: Methods<typeof SessionService>;
  /**
   * Fails until each service has been ready once. After that, their faults are 503 answers, not a reason to take the
   * gateway out of service.
   */
  readonly haveBeenReady: ReadinessCheck;
}

export function openClients(config: GatewayConfig, lifecycle: Lifecycle, metrics: Metrics): Clients {
  const preset = openChannel(config.presetTarget, config.grpcTls);
  const organization = openChannel(config.organizationTarget, config.grpcTls);
  lifecycle.opened("service channels", () => {
    preset.close();
    organization.close();
  });
  return {
    presets: presetClient(grpcClient(PresetService, preset), metrics),
    organization: organizationClient(grpcClient(OrganizationService, organization)),
    keys: grpcClient(KeyService, organization),
    workspaces: grpcClient(WorkspaceService, organization),
    access: accessClient(grpcClient(AccessService, organization), metrics),
    sessions: grpcClient(SessionService, organization),
    haveBeenReady: async () => {
      checkHasServed("preset", preset);
      checkHasServed("organization", organization);
    },
  };
}

function checkHasServed(name: string, { hasServed, fault }: Channel): void {
  if (hasServed) return;
  throw new Error(`the ${name} service is not ready${fault ? `: ${fault.message}` : ""}`);
}
