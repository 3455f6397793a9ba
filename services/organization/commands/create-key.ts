import type { Executor, Pool } from "../../platform/mysql/pool.ts";
import { CommandError } from "../../platform/process/command-line.ts";
import { keyKinds, newApiKey, newManagementKey, permissions } from "../domain/keys.ts";
import type { Organization } from "../domain/organizations.ts";
import { insertKey } from "../store/keys.ts";
import { findOldestAdminUserId } from "../store/members.ts";
import { findWorkspace } from "../store/organizations.ts";
import { count, futureTime, id, name, oneOf, optional, readFlags, required, someOf, toggle } from "./flags.ts";
import { changeOrganization } from "./organization.ts";

/** Makes a key in the name of the organization's oldest admin. An API key is for the default workspace unless told. */
export async function createKey(pool: Pool, parameters: string[]): Promise<string> {
  const flags = readFlags("create-key", parameters, {
    organization: required(name),
    name: required(name),
    kind: required(oneOf(keyKinds)),
    workspace: optional(id),
    permissions: optional(someOf(permissions)),
    "expires-at": optional(futureTime),
    "rate-limit": optional(count),
    "rate-burst": optional(count),
    json: toggle,
  });
  const isManagement = flags.kind === "management";
  if (isManagement && (flags.workspace || flags.permissions)) {
    throw new CommandError(
      "A management key has all permissions in every workspace; leave out --workspace and --permissions",
    );
  }
  const perSecond = flags["rate-limit"];
  const burst = flags["rate-burst"];
  if (burst !== undefined && perSecond === undefined) {
    throw new CommandError("--rate-burst says how much of --rate-limit may come at once; give both");
  }
  const { key, secret } = await changeOrganization(pool, flags.organization, async (connection, organization) => {
    const owner = {
      name: flags.name,
      organizationId: organization.id,
      creatorUserId: await getOldestAdminUserId(connection, organization),
      expiresAt: flags["expires-at"],
      rateLimit: perSecond === undefined ? undefined : { perSecond, burst: burst ?? perSecond },
    };
    const newKey = isManagement
      ? newManagementKey(owner)
      : newApiKey(owner, {
          workspaceId: await getWorkspaceId(connection, organization, flags.workspace),
          permissions: flags.permissions ?? permissions,
        });
    await insertKey(connection, newKey);
    return newKey;
  });
  return flags.json
    ? JSON.stringify({ key_id: key.id, key: secret })
    : `${secret}\n\nThe key ${key.id} is shown only now. Keep it safe.`;
}

async function getOldestAdminUserId(executor: Executor, organization: Organization): Promise<string> {
  const userId = await findOldestAdminUserId(executor, organization.id);
  if (userId !== undefined) return userId;
  throw new CommandError(
    `"${organization.name}" has no admin, and a key needs a creator; add one with add-member --role org:admin`,
  );
}

async function getWorkspaceId(executor: Executor, organization: Organization, id: string | undefined): Promise<string> {
  const workspaceId = id ?? organization.defaultWorkspaceId;
  if (await findWorkspace(executor, organization.id, workspaceId)) return workspaceId;
  throw new CommandError(
    `"${organization.name}" has no workspace ${workspaceId}; list-workspaces shows those that --workspace can name`,
  );
}
