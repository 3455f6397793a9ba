import { newId } from "../../platform/domain/ids.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { CommandError } from "../../platform/process/command-line.ts";
import { insertWorkspace, listWorkspaces } from "../store/organizations.ts";
import { name, readFlags, required, toggle } from "./flags.ts";
import { changeOrganization } from "./organization.ts";

/** Makes a workspace. A name is taken once in an organization, so that people can tell its workspaces apart. */
export async function createWorkspace(pool: Pool, parameters: string[]): Promise<string> {
  const flags = readFlags("create-workspace", parameters, {
    organization: required(name),
    name: required(name),
    json: toggle,
  });
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
}
