import type { FastifyReply } from "fastify";
import { v5 } from "uuid";
import { MemberRole } from "../../proto/gen/setpoint/organization/v1/member_pb.ts";
import type { Workspace, WorkspaceMember } from "../../proto/gen/setpoint/organization/v1/workspace_pb.ts";
import { sendData } from "./send.ts";
import { isoTime } from "./time.ts";

/**
 * Features that OpenRouter's clients may expect to switch on in a workspace, and that are always off here. A body may
 * say so, too.
 */
export const switchedOff = {
  io_logging_api_key_ids: null,
  io_logging_sampling_rate: 1,
  is_data_discount_logging_enabled: false,
  is_observability_broadcast_enabled: false,
  is_observability_io_logging_enabled: false,
} as const;

export function workspaceJson(workspace: Workspace): string {
  return JSON.stringify({
    id: workspace.id,
    name: workspace.name,
    slug: workspace.slug,
    description: workspace.description ?? null,
    default_text_model: workspace.defaultTextModel ?? null,
    default_image_model: workspace.defaultImageModel ?? null,
    default_provider_sort: workspace.defaultProviderSort ?? null,
    // There are no guardrails, but clients expect the id of one: it is always the same for a workspace.
    default_guardrail_id: v5("default_guardrail", workspace.id),
    ...switchedOff,
    created_at: isoTime(workspace.createTime),
    created_by: workspace.creatorUserId ?? null,
    updated_at: isoTime(workspace.updateTime),
  });
}

export function sendWorkspace(reply: FastifyReply, workspace: Workspace | undefined): FastifyReply {
  if (!workspace) throw new Error("The organization service answered without a workspace");
  return sendData(reply, workspaceJson(workspace));
}

export function workspaceMemberJson(member: WorkspaceMember): string {
  return JSON.stringify({
    id: member.id,
    workspace_id: member.workspaceId,
    user_id: member.userId,
    role: member.role === MemberRole.ADMIN ? "admin" : "member",
    created_at: isoTime(member.createTime),
  });
}
