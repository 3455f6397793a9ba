import { changeOf, differencesOf } from "../domain/changes.ts";
import { workspaceHasKeys, workspaceIsDefault } from "../domain/errors.ts";
import { workingKeys } from "../domain/keys.ts";
import { checkWorkspace, loggedWorkspace, type Workspace, type WorkspaceUpdate } from "../domain/workspaces.ts";
import type { Work } from "./change-organization.ts";
import { listEnabledKeys } from "./list-keys.ts";
import { getWorkspace, updateWorkspaceDeleted, updateWorkspaceRow } from "./workspaces.ts";

/** Makes all changes of an update, or none. */
export function updateWorkspace(name: string, update: WorkspaceUpdate): Work<Workspace> {
  checkWorkspace(update);
  return async (connection, organization, now) => {
    const before = await getWorkspace(connection, organization.id, name);
    const workspace = { ...before, ...update, updatedAt: now };
    const fields = differencesOf(loggedWorkspace(before), loggedWorkspace(workspace));
    if (fields.length === 0) return { result: before, changes: [] };
    await updateWorkspaceRow(connection, workspace);
    return { result: workspace, changes: [changeOf("workspace", "workspace_updated", workspace, fields)] };
  };
}

/**
 * Its presets stay, but cannot be reached. A workspace with working keys is refused, so that nobody loses access
 * unexpectedly.
 */
export function deleteWorkspace(name: string): Work<Workspace> {
  return async (connection, organization, now) => {
    const workspace = await getWorkspace(connection, organization.id, name);
    if (workspace.id === organization.defaultWorkspaceId) {
      throw workspaceIsDefault("The default workspace of an organization cannot be deleted.");
    }
    const enabled = await listEnabledKeys(connection, organization.id, { workspaceId: workspace.id });
    const working = workingKeys(enabled, now);
    if (working.length > 0) throw workspaceHasKeys(working);
    await updateWorkspaceDeleted(connection, workspace.id, now);
    return { result: workspace, changes: [changeOf("workspace", "workspace_deleted", workspace, [])] };
  };
}
