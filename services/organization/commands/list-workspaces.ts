import type { Pool } from "../../platform/mysql/pool.ts";
import type { Workspace } from "../domain/workspaces.ts";
import { listWorkspaces as listStoredWorkspaces } from "../store/workspaces.ts";
import { name, readFlags, required } from "./flags.ts";
import { getOrganization } from "./organization.ts";
import { type Columns, tableOf } from "./table.ts";

/** Shows the workspaces of an organization, oldest first. */
export async function listWorkspaces(pool: Pool, parameters: string[]): Promise<string> {
  const flags = readFlags("list-workspaces", parameters, { organization: required(name) });
  const organization = await getOrganization(pool, flags.organization);
  const columns: Columns<Workspace> = {
    id: (workspace) => workspace.id,
    name: (workspace) => workspace.name,
    slug: (workspace) => workspace.slug,
    default: (workspace) => (workspace.id === organization.defaultWorkspaceId ? "yes" : "no"),
  };
  return tableOf(columns, await listStoredWorkspaces(pool, organization.id));
}
