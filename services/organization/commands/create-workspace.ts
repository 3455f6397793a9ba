import type { Pool } from "../../platform/mysql/pool.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { optional, required, toggle } from "../../platform/process/flags.ts";
import type { Organization } from "../domain/organizations.ts";
import type { Workspace } from "../domain/workspaces.ts";
import type { Work } from "../store/change-organization.ts";
import { createWorkspace as createStoredWorkspace } from "../store/create-workspace.ts";
import { listWorkspaces } from "../store/workspaces.ts";
import { name, slug } from "./flag-rules.ts";
import { asFlag, change, getOrganization } from "./organization.ts";

/** Creates a workspace. Names are unique in an organization, so that people can tell its workspaces apart. */
export const createWorkspace = defineCommand({
  name: "create-workspace",
  summary: "Creates a workspace, with its own presets and keys.",
  flags: {
    organization: required(name, "the name of the organization"),
    name: required(name, "of the new workspace"),
    slug: optional(slug, "its name in API calls; by default derived from its name"),
    ...asFlag,
    json: toggle("print its id as JSON, for scripts"),
  },
  example: "--organization Demo --name Staging",
  run: async (flags, pool: Pool) => {
    const organization = await getOrganization(pool, flags.organization);
    const fields = { name: flags.name, ...(flags.slug === undefined ? {} : { slug: flags.slug }) };
    const { id } = await change(pool, { organizationId: organization.id, as: flags.as }, (userId) =>
      unlessNameTaken(flags.name, organization, createStoredWorkspace(fields, userId)),
    );
    return flags.json
      ? JSON.stringify({ workspace_id: id })
      : `The workspace "${flags.name}" of "${flags.organization}" is ready: ${id}; create-key --workspace makes keys for it`;
  },
});

function unlessNameTaken(name: string, organization: Organization, create: Work<Workspace>): Work<Workspace> {
  return async (connection, ...rest) => {
    const existing = (await listWorkspaces(connection, organization.id)).find((each) => each.name === name);
    if (!existing) return create(connection, ...rest);
    throw new CommandError(
      `"${organization.name}" has a workspace "${name}" already: ${existing.id}; use it, or choose another name`,
    );
  };
}
