import { WorkspaceService } from "../../../proto/gen/setpoint/organization/v1/workspace_service_pb.ts";
import { pageFrom } from "../../platform/domain/page.ts";
import type { Implementation } from "../../platform/rpc/service.ts";
import type { Organization } from "../domain/organizations.ts";
import type { Workspace } from "../domain/workspaces.ts";
import { addWorkspaceMembers, removeWorkspaceMembers } from "../store/change-workspace-members.ts";
import { createWorkspace } from "../store/create-workspace.ts";
import { deleteWorkspace, updateWorkspace } from "../store/update-workspace.ts";
import { listWorkspaceMembers } from "../store/workspace-members.ts";
import { countWorkspaces, getWorkspace, listWorkspaces } from "../store/workspaces.ts";
import type { Administration } from "./administration.ts";
import {
  fromCreateWorkspaceRequest,
  fromUpdateWorkspaceRequest,
  toWorkspaceMemberMessage,
  toWorkspaceMessage,
} from "./workspace-mapper.ts";

const { method: methods } = WorkspaceService;

export function workspaceService({ read, change }: Administration): Implementation<typeof WorkspaceService> {
  return {
    async listWorkspaces(request, context) {
      return read(context, async (connection, organization) => {
        const workspaces = await listWorkspaces(connection, organization.id, pageFrom(request));
        const totalCount = await countWorkspaces(connection, organization.id);
        return { workspaces: workspaces.map((each) => toWorkspaceMessage(each, organization)), totalCount };
      });
    },

    async createWorkspace(request, context) {
      const { userId } = context.principal;
      const prepare = () => createWorkspace(fromCreateWorkspaceRequest(request), userId);
      return change(context, prepare, answerWorkspace, { method: methods.createWorkspace, request });
    },

    async getWorkspace(request, context) {
      return read(context, async (connection, organization) =>
        answerWorkspace(await getWorkspace(connection, organization.id, request.workspace), organization),
      );
    },

    async updateWorkspace(request, context) {
      const prepare = () => updateWorkspace(request.workspace, fromUpdateWorkspaceRequest(request));
      return change(context, prepare, answerWorkspace, { method: methods.updateWorkspace, request });
    },

    async deleteWorkspace(request, context) {
      const prepare = () => deleteWorkspace(request.workspace);
      return change(context, prepare, answerWorkspace, { method: methods.deleteWorkspace, request });
    },

    async listWorkspaceMembers(request, context) {
      return read(context, async (connection, organization) => {
        const page = pageFrom(request);
        const workspace = await getWorkspace(connection, organization.id, request.workspace);
        const { members, totalCount } = await listWorkspaceMembers(connection, organization, workspace, page);
        return { members: members.map(toWorkspaceMemberMessage), totalCount };
      });
    },

    async addWorkspaceMembers(request, context) {
      return change(
        context,
        () => addWorkspaceMembers(request.workspace, request.userIds),
        ({ members, addedCount }) => ({ members: members.map(toWorkspaceMemberMessage), addedCount }),
        { method: methods.addWorkspaceMembers, request },
      );
    },

    async removeWorkspaceMembers(request, context) {
      return change(
        context,
        () => removeWorkspaceMembers(request.workspace, request.userIds),
        (removedCount) => ({ removedCount }),
        { method: methods.removeWorkspaceMembers, request },
      );
    },
  };
}

function answerWorkspace(workspace: Workspace, organization: Organization) {
  return { workspace: toWorkspaceMessage(workspace, organization) };
}
