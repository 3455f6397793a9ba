import { AccessService } from "../../../proto/gen/setpoint/organization/v1/access_service_pb.ts";
import { DomainError } from "../../platform/domain/domain-error.ts";
import { newId } from "../../platform/domain/ids.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { openChannel } from "../../platform/rpc/channel.ts";
import { grpcClient } from "../../platform/rpc/grpc-client.ts";
import { monotonicMs } from "../../platform/time/clock.ts";
import type { OrganizationAddress } from "../config.ts";

const timeoutMs = 5_000;

/** Asks the organization service whether the workspace was deleted, and throws a CommandError unless it says so. */
export async function checkDeleted(workspaceId: string, { target, tls }: OrganizationAddress): Promise<void> {
  const channel = openChannel(target, tls);
  const options = { requestId: newId(), deadlineMs: monotonicMs() + timeoutMs };
  try {
    const { isDeleted } = await grpcClient(AccessService, channel).getWorkspaceState({ workspaceId }, options);
    if (isDeleted) return;
    throw new CommandError(
      `The workspace ${workspaceId} was not deleted, so its presets may be in use: nothing is deleted. Check the id, or delete the workspace first.`,
    );
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new CommandError(
      `The organization service (ORGANIZATION_GRPC_TARGET ${target}) did not confirm that the workspace ${workspaceId} was deleted, so nothing is deleted: ${error.message}`,
    );
  } finally {
    channel.close();
  }
}
