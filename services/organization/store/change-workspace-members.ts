import { type Change, type ChangeAction, changeOf } from "../domain/changes.ts";
import { workspaceIsDefault, workspaceMemberHasKeys } from "../domain/errors.ts";
import { workingKeys } from "../domain/keys.ts";
import { checkAllMembers, distinctUserIds, type WorkspaceMember } from "../domain/workspace-members.ts";
import type { Workspace } from "../domain/workspaces.ts";
import type { Work } from "./change-organization.ts";
import { listEnabledKeys } from "./list-keys.ts";
import { findMemberIds } from "./members.ts";
import { deleteWorkspaceMembers, findWorkspaceMembers, insertWorkspaceMembers } from "./workspace-members.ts";
import { getWorkspace } from "./workspaces.ts";

interface Added {
  readonly members: readonly WorkspaceMember[];
  readonly addedCount: number;
}

/** Adds members of the organization to the workspace; those who are already members stay. */
export function addWorkspaceMembers(name: string, given: readonly string[]): Work<Added> {
  const userIds = distinctUserIds(given);
  return async (connection, organization, now) => {
    const workspace = await getWorkspace(connection, organization.id, name);
    checkAllMembers(given, await findMemberIds(connection, organization.id, userIds));
    const before = await findWorkspaceMembers(connection, organization, workspace, userIds);
    const added = userIds.filter((userId) => !before.some((member) => member.userId === userId));
    if (added.length === 0) return { result: { members: before, addedCount: 0 }, changes: [] };
    await insertWorkspaceMembers(connection, workspace, added, now);
    const members = await findWorkspaceMembers(connection, organization, workspace, userIds);
    const changes = [memberChange(workspace, "workspace_members_added", added)];
    return { result: { members, addedCount: added.length }, changes };
  };
}

/** Returns how many memberships ended. Users who are not members are skipped. */
export function removeWorkspaceMembers(name: string, given: readonly string[]): Work<number> {
  const userIds = distinctUserIds(given);
  return async (connection, organization, now) => {
    const workspace = await getWorkspace(connection, organization.id, name);
    if (workspace.id === organization.defaultWorkspaceId) {
      throw workspaceIsDefault(
        "The default workspace has every member. Remove the member from the organization instead.",
      );
    }
    const members = await findWorkspaceMembers(connection, organization, workspace, userIds);
    if (members.length === 0) return { result: 0, changes: [] };
    const creatorUserIds = members.map(({ userId }) => userId);
    const enabled = await listEnabledKeys(connection, organization.id, { workspaceId: workspace.id, creatorUserIds });
    const working = workingKeys(enabled, now);
    if (working.length > 0) throw workspaceMemberHasKeys(given, working);
    await deleteWorkspaceMembers(connection, workspace, creatorUserIds);
    const changes = [memberChange(workspace, "workspace_members_removed", creatorUserIds)];
    return { result: members.length, changes };
  };
}

function memberChange(workspace: Workspace, action: ChangeAction, userIds: readonly string[]): Change {
  const isAdded = action === "workspace_members_added";
  const fields = userIds.map((id) => ({ field: "member", from: isAdded ? null : id, to: isAdded ? id : null }));
  return changeOf("workspace", action, workspace, fields);
}
