import type { KeyKind } from "../../platform/auth/principal.ts";
import { newId } from "../../platform/domain/ids.ts";
import type { Pool, PoolConnection } from "../../platform/mysql/pool.ts";
import { inTransaction, retryTransient } from "../../platform/mysql/transaction.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { optional, required, toggle } from "../../platform/process/flags.ts";
import { monotonicMs } from "../../platform/time/clock.ts";
import { newWorkspace } from "../domain/workspaces.ts";
import { addMember } from "../store/change-members.ts";
import { insertChanges } from "../store/changes.ts";
import { createKey } from "../store/create-key.ts";
import { findOrganization, insertOrganization } from "../store/organizations.ts";
import { insertWorkspace } from "../store/workspaces.ts";
import { email, name } from "./flag-rules.ts";
import { asCommandError, timeoutMs } from "./organization.ts";

/**
 * Creates an organization with everything that it needs to be used: a workspace, an admin and two keys. All of it, or
 * nothing.
 */
export const bootstrap = defineCommand({
  name: "bootstrap",
  summary: "Creates an organization with a workspace, an admin and two keys, and prints the keys once.",
  flags: {
    organization: required(name, "the name of the new organization"),
    "admin-email": required(email, "its first member, who may do everything"),
    "admin-first-name": optional(name, "of the admin"),
    "admin-last-name": optional(name, "of the admin"),
    "if-absent": toggle("do nothing if an organization of that name exists"),
    json: toggle("print ids and keys as JSON, for scripts"),
  },
  example: "--organization Acme --admin-email admin@example.com",
  run: async ({ organization, json, ...flags }, pool: Pool) => {
    const created = await createOrganization(pool, organization, {
      email: flags["admin-email"],
      firstName: flags["admin-first-name"],
      lastName: flags["admin-last-name"],
    });
    if (!created && flags["if-absent"]) return `The organization "${organization}" is there already.`;
    if (!created) throw new CommandError(`The organization name "${organization}" is taken; choose another`);
    return json
      ? JSON.stringify(created)
      : `The organization "${organization}" is ready.

  organization    ${created.organization_id}
  workspace       ${created.workspace_id}
  admin           ${created.admin_user_id}
  API key         ${created.api_key}
  management key  ${created.management_key}

The keys are shown only now. Keep them safe.`;
  },
});

/** What scripts read; the names are part of the command's contract. */
interface Created {
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

/** Undefined if the name is taken. */
async function createOrganization(pool: Pool, organizationName: string, admin: Admin): Promise<Created | undefined> {
  const organizationId = newId();
  const attempted: Created[] = [];
  const attempt = async (connection: PoolConnection): Promise<Created | undefined> => {
    const now = new Date();
    const workspace = newWorkspace(organizationId, { name: "Default" }, undefined);
    const organization = { id: organizationId, name: organizationName, defaultWorkspaceId: workspace.id };
    if (!(await insertOrganization(connection, organization, now))) {
      // If the answer to a commit was lost, an earlier attempt of ours has taken the name.
      const stored = await findOrganization(connection, organizationId);
      return attempted.find(({ workspace_id }) => workspace_id === stored?.defaultWorkspaceId);
    }
    await insertWorkspace(connection, workspace);
    const member = await addMember({ ...admin, role: "org:admin" })(connection, organization, now);
    const { userId } = member.result;
    const createFirstKey = (kind: KeyKind, name: string) =>
      createKey({ ...plainKey, kind, name }, userId)(connection, organization, now);
    const apiKey = await createFirstKey("api", "First API key");
    const managementKey = await createFirstKey("management", "First management key");

    const changes = [...member.changes, ...apiKey.changes, ...managementKey.changes];
    const actor = { userId, keyId: undefined };
    const entries = changes.map((change) => ({ ...change, id: newId(), actor, createdAt: now }));
    await insertChanges(connection, organization.id, 0, entries);
    const created = {
      organization_id: organization.id,
      workspace_id: workspace.id,
      admin_user_id: userId,
      api_key: apiKey.result.secret,
      management_key: managementKey.result.secret,
    };
    attempted.push(created);
    return created;
  };
  return asCommandError(retryTransient(monotonicMs() + timeoutMs, () => inTransaction(pool, attempt)));
}

/** A key with all defaults. */
const plainKey = { workspace: "", creatorUserId: "", expiresAt: undefined, permissions: [], requestId: "" };
