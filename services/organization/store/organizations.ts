import { idFromBytes, idToBytes } from "../../platform/domain/ids.ts";
import { isDuplicateKey } from "../../platform/mysql/errors.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import type { Organization } from "../domain/organizations.ts";

interface OrganizationRow extends RowDataPacket {
  readonly id: Buffer;
  readonly name: string;
  readonly default_workspace_id: Buffer;
}

export function findOrganization(executor: Executor, id: string): Promise<Organization | undefined> {
  return selectOrganization(executor, "id = ?", idToBytes(id));
}

export function findOrganizationByName(executor: Executor, name: string): Promise<Organization | undefined> {
  return selectOrganization(executor, "name = ?", name);
}

/**
 * Until the transaction ends, others that lock the same organization wait. Every change begins with this, so none
 * deadlock.
 */
export function lockOrganization(executor: Executor, id: string): Promise<Organization | undefined> {
  return selectOrganization(executor, "id = ?", idToBytes(id), "FOR UPDATE");
}

async function selectOrganization(
  executor: Executor,
  condition: string,
  value: string | Buffer,
  lock = "",
): Promise<Organization | undefined> {
  const [rows] = await executor.execute<OrganizationRow[]>(
    `SELECT id, name, default_workspace_id FROM organizations WHERE ${condition} AND deleted_at IS NULL ${lock}`,
    [value],
  );
  const [row] = rows;
  return row && { id: idFromBytes(row.id), name: row.name, defaultWorkspaceId: idFromBytes(row.default_workspace_id) };
}

/** False if the name is taken. */
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
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
