import { idFromBytes, idToBytes, isId } from "../../platform/domain/ids.ts";
import type { Page } from "../../platform/domain/page.ts";
import { isDuplicateKey } from "../../platform/mysql/errors.ts";
import { limitClause } from "../../platform/mysql/limit-clause.ts";
import type { Executor, RowDataPacket } from "../../platform/mysql/pool.ts";
import { selectPage } from "../../platform/mysql/select-page.ts";
import { selectTotal } from "../../platform/mysql/select-total.ts";
import { slugTaken, workspaceNotInOrganization } from "../domain/errors.ts";
import { isSlug, type Workspace } from "../domain/workspaces.ts";

const columns = `id, organization_id, name, slug, description, default_text_model, default_image_model,
  default_provider_sort, creator_user_id, created_at, updated_at`;

interface WorkspaceRow extends RowDataPacket {
  readonly id: Buffer;
  readonly organization_id: Buffer;
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly default_text_model: string | null;
  readonly default_image_model: string | null;
  readonly default_provider_sort: string | null;
  readonly creator_user_id: string | null;
  readonly created_at: Date;
  readonly updated_at: Date | null;
}

/** The workspace of the organization with this id or slug. No slug has the form of an id. */
export async function findWorkspace(
  executor: Executor,
  organizationId: string,
  name: string,
): Promise<Workspace | undefined> {
  if (!isId(name) && !isSlug(name)) return undefined;
  const [rows] = await executor.execute<WorkspaceRow[]>(
    `SELECT ${columns} FROM workspaces
      WHERE organization_id = ? AND ${isId(name) ? "id" : "slug"} = ? AND deleted_at IS NULL`,
    [idToBytes(organizationId), isId(name) ? idToBytes(name) : name],
  );
  return rows[0] && workspaceFromRow(rows[0]);
}

/** The same; throws if there is none. */
export async function getWorkspace(executor: Executor, organizationId: string, name: string): Promise<Workspace> {
  const workspace = await findWorkspace(executor, organizationId, name);
  if (!workspace) throw workspaceNotInOrganization();
  return workspace;
}

/** Of any organization; undefined if there never was a workspace with this id. */
export async function findWorkspaceState(
  executor: Executor,
  id: string,
): Promise<{ readonly isDeleted: boolean } | undefined> {
  const [[row]] = await executor.execute<RowDataPacket[]>(
    `SELECT w.deleted_at IS NOT NULL OR o.deleted_at IS NOT NULL AS is_deleted
      FROM workspaces w JOIN organizations o ON o.id = w.organization_id WHERE w.id = ?`,
    [idToBytes(id)],
  );
  return row && { isDeleted: Boolean(row.is_deleted) };
}

/** Workspaces of an organization, oldest first; without a page, all. */
export async function listWorkspaces(executor: Executor, organizationId: string, page?: Page): Promise<Workspace[]> {
  const rows = await selectPage<WorkspaceRow>(
    executor,
    page ?? { offset: 0 },
    `SELECT ${columns} FROM workspaces WHERE organization_id = ? AND deleted_at IS NULL
      ORDER BY created_at, id ${page ? limitClause(page.limit, page.offset) : ""}`,
    [idToBytes(organizationId)],
  );
  return rows.map(workspaceFromRow);
}

export function countWorkspaces(executor: Executor, organizationId: string): Promise<number> {
  const sql = "SELECT COUNT(*) AS total FROM workspaces WHERE organization_id = ? AND deleted_at IS NULL";
  return selectTotal(executor, sql, [idToBytes(organizationId)]);
}

/** Refuses a slug that another workspace of the organization has. */
export async function insertWorkspace(executor: Executor, workspace: Workspace): Promise<void> {
  await refuseTakenSlug(
    workspace,
    executor.execute(`INSERT INTO workspaces (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
      idToBytes(workspace.id),
      idToBytes(workspace.organizationId),
      ...values(workspace),
      workspace.creatorUserId ?? null,
      workspace.createdAt,
      workspace.updatedAt ?? null,
    ]),
  );
}

/** Refuses a slug that another workspace of the organization has. */
export async function updateWorkspaceRow(executor: Executor, workspace: Workspace): Promise<void> {
  await refuseTakenSlug(
    workspace,
    executor.execute(
      `UPDATE workspaces SET name = ?, slug = ?, description = ?, default_text_model = ?, default_image_model = ?,
        default_provider_sort = ?, updated_at = ? WHERE id = ?`,
      [...values(workspace), workspace.updatedAt ?? null, idToBytes(workspace.id)],
    ),
  );
}

/** The row stays, because presets refer to it; its slug is free again. */
export async function updateWorkspaceDeleted(executor: Executor, id: string, deletedAt: Date): Promise<void> {
  await executor.execute("UPDATE workspaces SET deleted_at = ?, slug = NULL WHERE id = ?", [deletedAt, idToBytes(id)]);
}

function values(workspace: Workspace): (string | null)[] {
  return [
    workspace.name,
    workspace.slug,
    workspace.description ?? null,
    workspace.defaultTextModel ?? null,
    workspace.defaultImageModel ?? null,
    workspace.defaultProviderSort ?? null,
  ];
}

async function refuseTakenSlug({ slug }: Workspace, written: Promise<unknown>): Promise<void> {
  try {
    await written;
  } catch (error) {
    throw isDuplicateKey(error) ? slugTaken(slug) : error;
  }
}

function workspaceFromRow(row: WorkspaceRow): Workspace {
  return {
    id: idFromBytes(row.id),
    organizationId: idFromBytes(row.organization_id),
    name: row.name,
    slug: row.slug,
    description: row.description ?? undefined,
    defaultTextModel: row.default_text_model ?? undefined,
    defaultImageModel: row.default_image_model ?? undefined,
    defaultProviderSort: row.default_provider_sort ?? undefined,
    creatorUserId: row.creator_user_id ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at ?? undefined,
  };
}
