import type { Pool } from "../../platform/mysql/pool.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { required } from "../../platform/process/flags.ts";
import type { Workspace } from "../domain/workspaces.ts";
import { listWorkspaces as listStoredWorkspaces } from "../store/workspaces.ts";
import { name } from "./flag-rules.ts";
import { getOrganization } from "./organization.ts";
import { type Columns, tableOf } from "./table.ts";

/** Lists the workspaces of an organization, oldest first. */
export const listWorkspaces = defineCommand({
  name: "list-workspaces",
  summary: "Lists the workspaces of an organization, oldest first.",
  flags: { organization: required(name, "the name of the organization") },
  example: "--organization Demo",
  run: async (flags, pool: Pool) => {
    const organization = await getOrganization(pool, flags.organization);
    const columns: Columns<Workspace> = {
      id: (workspace) => workspace.id,
      name: (workspace) => workspace.name,
      slug: (workspace) => workspace.slug,
      default: (workspace) => (workspace.id === organization.defaultWorkspaceId ? "yes" : "no"),
    };
    return tableOf(columns, await listStoredWorkspaces(pool, organization.id));
  },
});
