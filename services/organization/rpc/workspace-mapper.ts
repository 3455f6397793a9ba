import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  WorkspaceMemberSchema,
  WorkspaceSchema,
} from "../../../proto/gen/setpoint/organization/v1/workspace_pb.ts";
import type {
  CreateWorkspaceRequest,
  UpdateWorkspaceRequest,
} from "../../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { fieldsOfMask } from "../../platform/rpc/field-mask.ts";
import type { Organization } from "../domain/organizations.ts";
import { type WorkspaceMember, workspaceMemberId } from "../domain/workspace-members.ts";
import type { Workspace, WorkspaceFields, WorkspaceUpdate } from "../domain/workspaces.ts";
import { roleMessages } from "./member-mapper.ts";

export function toWorkspaceMessage(
  workspace: Workspace,
  { defaultWorkspaceId }: Organization,
): MessageInitShape<typeof WorkspaceSchema> {
  return {
    id: workspace.id,
    name: workspace.name,
    slug: workspace.slug,
    description: workspace.description,
    defaultTextModel: workspace.defaultTextModel,
    defaultImageModel: workspace.defaultImageModel,
    defaultProviderSort: workspace.defaultProviderSort,
    isDefault: workspace.id === defaultWorkspaceId,
    createTime: timestampFromDate(workspace.createdAt),
    creatorUserId: workspace.creatorUserId,
    updateTime: workspace.updatedAt && timestampFromDate(workspace.updatedAt),
  };
}

export function toWorkspaceMemberMessage(member: WorkspaceMember): MessageInitShape<typeof WorkspaceMemberSchema> {
  return {
    id: workspaceMemberId(member),
    workspaceId: member.workspaceId,
    userId: member.userId,
    role: roleMessages[member.role],
    createTime: timestampFromDate(member.createdAt),
  };
}

export function fromCreateWorkspaceRequest(request: CreateWorkspaceRequest): WorkspaceFields {
  return {
    name: request.name,
    slug: request.slug,
    description: request.description,
    defaultTextModel: request.defaultTextModel,
    defaultImageModel: request.defaultImageModel,
    defaultProviderSort: request.defaultProviderSort,
  };
}

/** Reads only the fields that the mask names. */
export function fromUpdateWorkspaceRequest(request: UpdateWorkspaceRequest): WorkspaceUpdate {
  return fieldsOfMask<WorkspaceUpdate>(
    request.updateMask,
    {
      name: () => ({ name: request.name }),
      slug: () => ({ slug: request.slug }),
      description: () => ({ description: request.description }),
      default_text_model: () => ({ defaultTextModel: request.defaultTextModel }),
      default_image_model: () => ({ defaultImageModel: request.defaultImageModel }),
      default_provider_sort: () => ({ defaultProviderSort: request.defaultProviderSort }),
    },
    { mayBeEmpty: true },
  );
}
