import { newId } from "../../platform/domain/ids.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { required, toggle } from "../../platform/process/flags.ts";
import { insertWorkspace, listWorkspaces } from "../store/organizations.ts";
import { name } from "./flag-rules.ts";
import { changeOrganization } from "./organization.ts";

/** Makes a workspace. A name is taken once in an organization, so that people can tell its workspaces apart. */
export const createWorkspace = defineCommand({
  name: "create-workspace",
  summary: "Makes a workspace, which has presets and keys of its own.",
  flags: {
    organization: required(name, "the name of the organization"),
    name: required(name, "of the new workspace"),
    json: toggle("print its id as JSON, for scripts"),
  },
  example: "--organization Demo --name Staging",
  run: async (flags, pool: Pool) => {
    const id = await changeOrganization(pool, flags.organization, async (connection, organization) => {
      const namesake = (await listWorkspaces(connection, organization.id)).find((each) => each.name === flags.name);
      if (namesake) {
        throw new CommandError(
          `"${organization.name}" has a workspace "${flags.name}" already: ${namesake.id}; use it, or choose another name`,
        );
      }
      const workspace = { id: newId(), organizationId: organization.id, name: flags.name };
      await insertWorkspace(connection, workspace, new Date());
      return workspace.id;
    });
    return flags.json
      ? JSON.stringify({ workspace_id: id })
      : `The workspace "${flags.name}" of "${flags.organization}" is ready: ${id}; create-key --workspace makes keys for it`;
  },
});
