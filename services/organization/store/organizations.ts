import { idFromBytes, idToBytes } from "../../platform/ids.ts";
import { isDuplicateKey } from "../../platform/mysql/errors.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import type { Organization, Workspace } from "../domain/organizations.ts";

interface OrganizationRow extends RowDataPacket {
  readonly id: Buffer;
  readonly name: string;
  readonly default_workspace_id: Buffer;
}

export async function findOrganizationByName(executor: Executor, name: string): Promise<Organization | undefined> {
  const [rows] = await executor.execute<OrganizationRow[]>(
    "SELECT id, name, default_workspace_id FROM organizations WHERE name = ? AND deleted_at IS NULL",
    [name],
  );
  const [row] = rows;
  return row && { id: idFromBytes(row.id), name: row.name, defaultWorkspaceId: idFromBytes(row.default_workspace_id) };
}

/** False where the name is taken. */
export async function insertOrganization(
  executor: Executor,
  organization: Organization,
  createdAt: Date,
): Promise<boolean> {
  try {
    await executor.execute(
      "INSERT INTO organizations (id, name, default_workspace_id, member_count, created_at) VALUES (?, ?, ?, 0, ?)",
      [idToBytes(organization.id), organization.name, idToBytes(organization.defaultWorkspaceId), createdAt],
    );
    return true;
  } catch (error) {
    if (isDuplicateKey(error, "organizations_name")) return false;
    throw error;
  }
}

export async function insertWorkspace(executor: Executor, workspace: Workspace, createdAt: Date): Promise<void> {
  await executor.execute("INSERT INTO workspaces (id, organization_id, name, created_at) VALUES (?, ?, ?, ?)", [
    idToBytes(workspace.id),
    idToBytes(workspace.organizationId),
    workspace.name,
    createdAt,
  ]);
}

export async function workspaceExists(executor: Executor, organizationId: string, id: string): Promise<boolean> {
  const [rows] = await executor.execute<RowDataPacket[]>(
    "SELECT 1 FROM workspaces WHERE id = ? AND organization_id = ? AND deleted_at IS NULL",
    [idToBytes(id), idToBytes(organizationId)],
  );
  return rows.length > 0;
}
