import { changeOf, differencesOf } from "../domain/changes.ts";
import {
  checkWorkspace,
  loggedWorkspace,
  newWorkspace,
  type Workspace,
  type WorkspaceFields,
} from "../domain/workspaces.ts";
import type { Work } from "./change-organization.ts";
import { insertWorkspaceMembers } from "./workspace-members.ts";
import { insertWorkspace } from "./workspaces.ts";

/** Creates a workspace. Whoever creates it is its first member. */
export function createWorkspace(
  given: Partial<WorkspaceFields> & Pick<WorkspaceFields, "name">,
  creatorUserId: string | undefined,
): Work<Workspace> {
  checkWorkspace(given);
  return async (connection, organization, now) => {
    const workspace = newWorkspace(organization.id, given, creatorUserId);
    await insertWorkspace(connection, workspace);
    if (creatorUserId !== undefined) await insertWorkspaceMembers(connection, workspace, [creatorUserId], now);
    const fields = differencesOf({}, loggedWorkspace(workspace));
    return { result: workspace, changes: [changeOf("workspace", "workspace_created", workspace, fields)] };
  };
}
