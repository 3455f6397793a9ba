import type { Pool } from "../../platform/mysql/pool.ts";
import { CommandError } from "../../platform/process/command-line.ts";
import type { Organization } from "../domain/organizations.ts";
import type { Workspace } from "../domain/workspaces.ts";
import type { Work } from "../store/change-organization.ts";
import { createWorkspace as createStoredWorkspace } from "../store/create-workspace.ts";
import { listWorkspaces } from "../store/workspaces.ts";
import { name, optional, readFlags, required, slug, toggle } from "./flags.ts";
import { change, getOrganization } from "./organization.ts";

/** Makes a workspace, with a slug from its name unless told. A name is taken once in an organization, so that people can tell its workspaces apart. */
export async function createWorkspace(pool: Pool, parameters: string[]): Promise<string> {
  const flags = readFlags("create-workspace", parameters, {
    organization: required(name),
    name: required(name),
    slug: optional(slug),
    json: toggle,
  });
  const organization = await getOrganization(pool, flags.organization);
  const fields = { name: flags.name, ...(flags.slug === undefined ? {} : { slug: flags.slug }) };
  const { id } = await change(pool, organization.id, (adminUserId) =>
    unlessNamesake(flags.name, organization, createStoredWorkspace(fields, adminUserId)),
  );
  return flags.json
    ? JSON.stringify({ workspace_id: id })
    : `The workspace "${flags.name}" of "${flags.organization}" is ready: ${id}; create-key --workspace makes keys for it`;
}

function unlessNamesake(name: string, organization: Organization, create: Work<Workspace>): Work<Workspace> {
  return async (connection, ...rest) => {
    const namesake = (await listWorkspaces(connection, organization.id)).find((each) => each.name === name);
    if (!namesake) return create(connection, ...rest);
    throw new CommandError(
      `"${organization.name}" has a workspace "${name}" already: ${namesake.id}; use it, or choose another name`,
    );
  };
}
