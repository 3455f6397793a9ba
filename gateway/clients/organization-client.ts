import type { OrganizationService } from "../../proto/gen/setpoint/organization/v1/organization_service_pb.ts";
import type { Methods } from "../../services/platform/rpc/grpc-client.ts";
import { batchIdenticalCalls } from "./batched-calls.ts";

/** Calls the organization service. */
export type OrganizationClient = Methods<typeof OrganizationService>;

export function organizationClient(methods: OrganizationClient): OrganizationClient {
  return {
    ...methods,
    listMembers: batchIdenticalCalls({ bytesOf: () => 1_024, call: methods.listMembers }),
  };
}
