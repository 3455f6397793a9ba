import { idToBytes } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import { limitClause } from "../../platform/mysql/limit-clause.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import { selectPage } from "../../platform/mysql/select-page.ts";
import { selectTotal } from "../../platform/mysql/select-total.ts";
import { repeated } from "../../platform/mysql/text-by-count.ts";
import { isUserId, type MemberRole } from "../domain/members.ts";
import type { Organization } from "../domain/organizations.ts";
import type { WorkspaceMember } from "../domain/workspace-members.ts";
import type { Workspace } from "../domain/workspaces.ts";

interface WorkspaceMemberPage {
  readonly members: readonly WorkspaceMember[];
  readonly totalCount: number;
}

interface WorkspaceMemberRow extends RowDataPacket {
  readonly user_id: string;
  readonly role: MemberRole;
  readonly created_at: Date;
}

/** Where the members of a workspace are stored: those of the default one are the members of the organization. */
function membersOf(organization: Organization, workspace: Workspace) {
  return workspace.id === organization.defaultWorkspaceId
    ? { rows: "FROM memberships m WHERE m.organization_id = ?", values: [idToBytes(organization.id)], createdAt: "m" }
    : {
        rows: `FROM workspace_members w
          JOIN memberships m ON m.organization_id = w.organization_id AND m.user_id = w.user_id WHERE w.workspace_id = ?`,
        values: [idToBytes(workspace.id)],
        createdAt: "w",
      };
}

/** Oldest membership first. To be run in a snapshot, so that the two statements agree. */
export async function listWorkspaceMembers(
  executor: Executor,
  organization: Organization,
  workspace: Workspace,
  page: Page,
): Promise<WorkspaceMemberPage> {
  const { rows: source, values, createdAt } = membersOf(organization, workspace);
  const totalCount = await selectTotal(executor, `SELECT COUNT(*) AS total ${source}`, values);
  const rows = await selectPage<WorkspaceMemberRow>(
    executor,
    page,
    `SELECT m.user_id, m.role, ${createdAt}.created_at ${source}
      ORDER BY ${createdAt}.created_at, ${createdAt}.user_id ${limitClause(page.limit, page.offset)}`,
    values,
  );
  return { members: rows.map((row) => memberFromRow(workspace, row)), totalCount };
}

/** Those of these users who are members of the workspace, oldest membership first. */
export async function findWorkspaceMembers(
  executor: Executor,
  organization: Organization,
  workspace: Workspace,
  userIds: readonly string[],
): Promise<WorkspaceMember[]> {
  const known = userIds.filter(isUserId);
  if (known.length === 0) return [];
  const { rows: source, values, createdAt } = membersOf(organization, workspace);
  const [rows] = await executor.execute<WorkspaceMemberRow[]>(
    `SELECT m.user_id, m.role, ${createdAt}.created_at ${source} AND m.user_id IN (${repeated(known.length, "?")})
      ORDER BY ${createdAt}.created_at, ${createdAt}.user_id`,
    [...values, ...known],
  );
  return rows.map((row) => memberFromRow(workspace, row));
}

/** The users must not be members of the workspace yet. */
export async function insertWorkspaceMembers(
  executor: Executor,
  workspace: Workspace,
  userIds: readonly string[],
  createdAt: Date,
): Promise<void> {
  await executor.execute(
    `INSERT INTO workspace_members (workspace_id, created_at, user_id, organization_id)
      VALUES ${repeated(userIds.length, "(?, ?, ?, ?)")}`,
    userIds.flatMap((userId) => [idToBytes(workspace.id), createdAt, userId, idToBytes(workspace.organizationId)]),
  );
}

export async function deleteWorkspaceMembers(
  executor: Executor,
  workspace: Workspace,
  userIds: readonly string[],
): Promise<void> {
  await executor.execute(
    `DELETE FROM workspace_members WHERE workspace_id = ? AND user_id IN (${repeated(userIds.length, "?")})`,
    [idToBytes(workspace.id), ...userIds],
  );
}

/** A member who leaves an organization leaves all of its workspaces. */
export async function deleteMemberFromWorkspaces(
  executor: Executor,
  organizationId: string,
  userId: string,
): Promise<void> {
  await executor.execute("DELETE FROM workspace_members WHERE organization_id = ? AND user_id = ?", [
    idToBytes(organizationId),
    userId,
  ]);
}

function memberFromRow({ id: workspaceId }: Workspace, row: WorkspaceMemberRow): WorkspaceMember {
  return { workspaceId, userId: row.user_id, role: row.role, createdAt: row.created_at };
}
