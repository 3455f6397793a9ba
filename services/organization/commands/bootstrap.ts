import type { KeyKind } from "../../platform/auth/principal.ts";
import { newId } from "../../platform/domain/ids.ts";
import type { Pool, PoolConnection } from "../../platform/mysql/pool.ts";
import { inTransaction, retryTransient } from "../../platform/mysql/transaction.ts";
import { monotonicMs } from "../../platform/process/clock.ts";
import { defineCommand } from "../../platform/process/command.ts";
import { CommandError } from "../../platform/process/command-error.ts";
import { optional, required, toggle } from "../../platform/process/flags.ts";
import { newWorkspace } from "../domain/workspaces.ts";
import { addMember } from "../store/change-members.ts";
import { insertChanges } from "../store/changes.ts";
import { createKey } from "../store/create-key.ts";
import { findOrganization, insertOrganization } from "../store/organizations.ts";
import { insertWorkspace } from "../store/workspaces.ts";
import { email, name } from "./flag-rules.ts";
import { refusing, timeoutMs } from "./organization.ts";

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
    const made = await makeOrganization(pool, organization, {
      email: flags["admin-email"],
      firstName: flags["admin-first-name"],
      lastName: flags["admin-last-name"],
    });
    if (!made && flags["if-absent"]) return `The organization "${organization}" is there already.`;
    if (!made) throw new CommandError(`The organization name "${organization}" is taken; choose another`);
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

/** Undefined if the name is taken. */
async function makeOrganization(pool: Pool, organizationName: string, admin: Admin): Promise<Made | undefined> {
  const organizationId = newId();
  const attempted: Made[] = [];
  const attempt = async (connection: PoolConnection): Promise<Made | undefined> => {
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
    const makeKey = (kind: KeyKind, name: string) =>
      createKey({ ...plainKey, kind, name }, userId)(connection, organization, now);
    const apiKey = await makeKey("api", "First API key");
    const managementKey = await makeKey("management", "First management key");

    const changes = [...member.changes, ...apiKey.changes, ...managementKey.changes];
    const actor = { userId, keyId: undefined };
    const entries = changes.map((change) => ({ ...change, id: newId(), actor, createdAt: now }));
    await insertChanges(connection, organization.id, 0, entries);
    const made = {
      organization_id: organization.id,
      workspace_id: workspace.id,
      admin_user_id: userId,
      api_key: apiKey.result.secret,
      management_key: managementKey.result.secret,
    };
    attempted.push(made);
    return made;
  };
  return refusing(retryTransient(monotonicMs() + timeoutMs, () => inTransaction(pool, attempt)));
}

/** A key with all defaults. */
const plainKey = { workspace: "", creatorUserId: "", expiresAt: undefined, permissions: [], requestId: "" };
