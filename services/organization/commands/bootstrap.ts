import { newId } from "../../platform/domain/ids.ts";
import type { Pool } from "../../platform/mysql/pool.ts";
import { inTransaction } from "../../platform/mysql/transaction.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { optional, required, toggle } from "../../platform/process/flags.ts";
import { newApiKey, newManagementKey, permissions } from "../domain/keys.ts";
import { insertKey } from "../store/keys.ts";
import { findOrInsertUser, insertMembership } from "../store/members.ts";
import { insertOrganization, insertWorkspace } from "../store/organizations.ts";
import { email, name } from "./flag-rules.ts";

/** Makes an organization with all that it needs to be used: a workspace, an admin and two keys. All of it, or nothing. */
export const bootstrap = defineCommand({
  name: "bootstrap",
  summary: "Makes an organization with a workspace, an admin and two keys, which it prints once.",
  flags: {
    organization: required(name, "the name of the new organization"),
    "admin-email": required(email, "its first member, who may do everything"),
    "admin-first-name": optional(name, "of the admin"),
    "admin-last-name": optional(name, "of the admin"),
    json: toggle("print ids and keys as JSON, for scripts"),
  },
  example: "--organization Acme --admin-email admin@example.com",
  run: async ({ organization, json, ...flags }, pool: Pool) => {
    const made = await makeOrganization(pool, organization, {
      email: flags["admin-email"],
      firstName: flags["admin-first-name"],
      lastName: flags["admin-last-name"],
    });
    return json
      ? JSON.stringify(made)
      : `The organization "${organization}" is ready.

  organization    ${made.organization_id}
  workspace       ${made.workspace_id}
  admin           ${made.admin_user_id}
  API key         ${made.api_key}
  management key  ${made.management_key}

The keys are shown only now. Keep them safe.`;
  },
});

/** What scripts read; the names are part of the command's contract. */
interface Made {
  readonly organization_id: string;
  readonly workspace_id: string;
  readonly admin_user_id: string;
  readonly api_key: string;
  readonly management_key: string;
}

interface Admin {
  readonly email: string;
  readonly firstName: string | undefined;
  readonly lastName: string | undefined;
}

function makeOrganization(pool: Pool, organizationName: string, admin: Admin): Promise<Made> {
  return inTransaction(pool, async (connection) => {
    const createdAt = new Date();
    const workspace = { id: newId(), organizationId: newId(), name: "Default" };
    const organization = { id: workspace.organizationId, name: organizationName, defaultWorkspaceId: workspace.id };
    if (!(await insertOrganization(connection, organization, createdAt))) {
      throw new CommandError(`The organization name "${organizationName}" is taken; choose another`);
    }
    await insertWorkspace(connection, workspace, createdAt);
    const userId = await findOrInsertUser(connection, { ...admin, createdAt });
    await insertMembership(connection, { organizationId: organization.id, userId, role: "org:admin", createdAt });

    const owner = { organizationId: organization.id, creatorUserId: userId, expiresAt: undefined };
    const apiKey = newApiKey({ ...owner, name: "First API key" }, { workspaceId: workspace.id, permissions });
    const managementKey = newManagementKey({ ...owner, name: "First management key" });
    await insertKey(connection, apiKey);
    await insertKey(connection, managementKey);
    return {
      organization_id: organization.id,
      workspace_id: workspace.id,
      admin_user_id: userId,
      api_key: apiKey.secret,
      management_key: managementKey.secret,
    };
  });
}
