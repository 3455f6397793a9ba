import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import { isDuplicateKey } from "../../platform/mysql/errors.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import type { Organization, Workspace } from "../domain/organizations.ts";

interface OrganizationRow extends RowDataPacket {
  readonly id: Buffer;
  readonly name: string;
  readonly default_workspace_id: Buffer;
}

interface WorkspaceRow extends RowDataPacket {
  readonly id: Buffer;
  readonly organization_id: Buffer;
  readonly name: string;
}

const organizationByName =
  "SELECT id, name, default_workspace_id FROM organizations WHERE name = ? AND deleted_at IS NULL";

export function findOrganizationByName(executor: Executor, name: string): Promise<Organization | undefined> {
  return selectOrganization(executor, organizationByName, name);
}

/** Until the transaction ends, others who lock the same organization wait. */
export function lockOrganizationByName(executor: Executor, name: string): Promise<Organization | undefined> {
  return selectOrganization(executor, `${organizationByName} FOR UPDATE`, name);
}

async function selectOrganization(executor: Executor, sql: string, name: string): Promise<Organization | undefined> {
  const [rows] = await executor.execute<OrganizationRow[]>(sql, [name]);
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

export async function findWorkspace(
  executor: Executor,
  organizationId: string,
  id: string,
): Promise<Workspace | undefined> {
  const [rows] = await executor.execute<WorkspaceRow[]>(
    "SELECT id, organization_id, name FROM workspaces WHERE id = ? AND organization_id = ? AND deleted_at IS NULL",
    [idToBytes(id), idToBytes(organizationId)],
  );
  return rows[0] && workspaceFromRow(rows[0]);
}

/** All workspaces of an organization, oldest first. It reads the whole table: only administrators ask for it. */
export async function listWorkspaces(executor: Executor, organizationId: string): Promise<Workspace[]> {
  const [rows] = await executor.execute<WorkspaceRow[]>(
    `SELECT id, organization_id, name FROM workspaces WHERE organization_id = ? AND deleted_at IS NULL
      ORDER BY created_at, id`,
    [idToBytes(organizationId)],
  );
  return rows.map(workspaceFromRow);
}

function workspaceFromRow(row: WorkspaceRow): Workspace {
  return { id: idFromBytes(row.id), organizationId: idFromBytes(row.organization_id), name: row.name };
}
